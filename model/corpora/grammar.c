/*
 * Corpora of formal languages, one string per line.
 * dyck: well-nested strings of k kinds of brackets, at most DYCK_DEPTH deep. Inside, a bracket opens or
 * closes with equal probability; at depth 0 the line ends or goes on with equal probability. Words: k opening
 * brackets, the k closing brackets in the same order, the end of a line.
 * counter: a^n b^n c^n with n uniform on 1 .. COUNTER_MOST. Words: a, b, c, the end of a line.
 */
#include "model/corpora/inside.h"

void dyck_draw(
    int64_t kinds, int64_t seed, enum random_purpose purpose, const struct breath *breath, struct text *text)
{
    int64_t open[DYCK_DEPTH];
    int depth = 0;
    bool line_begins = true;

    for (int64_t i = 0; i < text->token_count; i++) {
        int64_t draw = (int64_t)random_below((uint64_t)seed, purpose, (uint64_t)i, 2 * (uint64_t)kinds);
        int64_t token = 2 * kinds;
        breathe_at(breath, i);
        if (line_begins || (depth < DYCK_DEPTH && draw < kinds))
            token = open[depth++] = draw % kinds;
        else if (depth > 0)
            token = kinds + open[--depth];
        line_begins = token == 2 * kinds;
        text->tokens[i] = (int32_t)token;
    }
}

void counter_draw(int64_t seed, enum random_purpose purpose, const struct breath *breath, struct text *text)
{
    for (int64_t first = 0; first < text->token_count;) {
        int64_t n = 1 + (int64_t)random_below((uint64_t)seed, purpose, (uint64_t)first, COUNTER_MOST);
        int64_t end = first + 3 * n + 1 < text->token_count ? first + 3 * n + 1 : text->token_count;
        for (int64_t i = first; i < end; i++) {
            breathe_at(breath, i);
            text->tokens[i] = (int32_t)((i - first) / n); /* 0, 1, 2, and 3 = 3n/n ends the line */
        }
        first = end;
    }
}
