/*
 * The built-in corpora that are streams of lines: the chain of markov.c, and formal languages, one string per
 * line.
 * dyck: well-nested strings of k kinds of brackets, at most DYCK_DEPTH deep. Inside, a bracket opens or
 * closes with equal probability; at depth 0 the line ends or goes on with equal probability. Words: k opening
 * brackets, the k closing brackets in the same order, the end of a line.
 * counter: a^n b^n c^n with n uniform on 1 .. COUNTER_MOST. Words: a, b, c, the end of a line.
 */
#include "model/corpora/inside.h"

#include <inttypes.h>
#include <math.h>

enum { VALID_PART = 10, VALID_LEAST = 32768, COUNTER_WORDS = 4 };

static int drawn_check(const struct corpus_source *source, struct error *error)
{
    int64_t vocabulary = source->vocabulary, least = source->kind == CORPUS_DYCK ? 3 : 2;

    if (source->tokens < 1)
        return error_set(error, ERROR_INPUT, "corpus_tokens: %" PRId64 " is below 1", source->tokens);
    if (source->kind == CORPUS_COUNTER)
        return 0;
    if (vocabulary < least)
        return error_set(error, ERROR_INPUT, "vocabulary: %" PRId64 " is below %" PRId64 ", the least for %s",
            vocabulary, least, corpus_kind_table[source->kind].name);
    if (vocabulary > INT32_MAX)
        return error_set(
            error, ERROR_INPUT, "vocabulary: %" PRId64 " is above %" PRId32, vocabulary, INT32_MAX);
    if (source->kind == CORPUS_DYCK && vocabulary % 2 == 0)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %" PRId64
            " is even; dyck has two words for each kind of bracket and one for the end of a line",
            vocabulary);
    return 0;
}

static void dyck_draw(
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

static void counter_draw(
    int64_t seed, enum random_purpose purpose, const struct breath *breath, struct text *text)
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

/* `markov` is the chain of a markov source, not used for other kinds. */
static void draw_text(struct text *text, const struct corpus_source *source, const struct markov *markov,
    int64_t tokens, enum random_purpose purpose)
{
    text->token_count = tokens;
    if (source->kind == CORPUS_MARKOV)
        markov_draw(markov, source->seed, purpose, source->breath, text);
    else if (source->kind == CORPUS_DYCK)
        dyck_draw(source->vocabulary / 2, source->seed, purpose, source->breath, text);
    else
        counter_draw(source->seed, purpose, source->breath, text);
    text_mark_lines(
        text, source->kind == CORPUS_COUNTER ? COUNTER_WORDS - 1 : (int32_t)source->vocabulary - 1);
}

int drawn_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    int64_t valid_tokens = source->tokens / VALID_PART;
    struct markov markov = {0};

    (void)files, (void)fault;
    if (drawn_check(source, error) != 0)
        return -1;
    corpus->vocabulary = source->kind == CORPUS_COUNTER ? COUNTER_WORDS : source->vocabulary;
    corpus->end_of_line = (int32_t)corpus->vocabulary - 1;
    digest_add(&corpus->digest, &corpus->vocabulary, sizeof(corpus->vocabulary));
    digest_add(&corpus->digest, &source->tokens, sizeof(source->tokens));
    digest_add(&corpus->digest, &source->seed, sizeof(source->seed));

    valid_tokens = valid_tokens < VALID_LEAST ? VALID_LEAST : valid_tokens;
    if (corpus_check_memory(source->tokens, sizeof(*corpus->train.tokens), error) != 0 ||
        block_take(corpus, source->tokens, valid_tokens, false, file, error) != 0)
        return error_prefix(error, "corpus_tokens");
    if (source->kind == CORPUS_MARKOV && markov_init(&markov, source->vocabulary, source->seed, error) != 0)
        return -1;
    draw_text(&corpus->train, source, &markov, source->tokens, RANDOM_TRAIN_TEXT);
    draw_text(&corpus->valid, source, &markov, valid_tokens, RANDOM_VALID_TEXT);
    markov_release(&markov);
    return 0;
}

/* ---- the markov source itself ---- */

static int chain_init(struct markov *markov, const struct corpus_source *source)
{
    struct error error;

    if (source->kind != CORPUS_MARKOV || drawn_check(source, &error) != 0)
        return -1;
    return markov_init(markov, source->vocabulary, source->seed, &error);
}

double corpus_entropy_rate(const struct corpus_source *source)
{
    struct markov markov;

    if (chain_init(&markov, source) != 0)
        return NAN;
    double rate = markov_entropy_rate(&markov);
    markov_release(&markov);
    return rate;
}

int corpus_source_loss(const struct corpus_source *source, const struct text *text, double *loss)
{
    struct markov markov;
    int status = 0;

    if (chain_init(&markov, source) != 0)
        return -1;
    for (int64_t i = 0; status == 0 && i < text->token_count; i++) {
        if (text->tokens[i] < 0 || text->tokens[i] >= markov.words)
            status = -1;
        else if (i > 0)
            loss[i] = markov_loss(&markov, text->tokens[i - 1], text->tokens[i]);
    }
    markov_release(&markov);
    return status;
}
