#include "model/corpora/text.h"

#include "model/core/limits.h"
#include "model/corpora/kinds.h"

#include <inttypes.h>
#include <stdlib.h>

int corpus_check_memory(int64_t count, size_t size, struct error *error)
{
    if ((uint64_t)count <= limits()->memory / size)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "no memory for %" PRId64 " times %zu bytes", count, size);
}

void *corpus_resize(void *memory, int64_t count, size_t size, struct error *error)
{
    void *resized = NULL;

    if (corpus_check_memory(count, size, error) != 0)
        return NULL;
    resized = realloc(memory, count > 0 ? (size_t)count * size : size);
    if (!resized)
        error_set(error, ERROR_ENVIRONMENT, "no memory for %" PRId64 " times %zu bytes", count, size);
    return resized;
}

void text_mark_lines(struct text *text, int32_t end_of_line)
{
    int64_t first = 0;

    text->line_count = 0;
    for (int64_t i = 0; i < text->token_count; i++) {
        if (text->tokens[i] != end_of_line)
            continue;
        if (i > first)
            text->line[text->line_count++] = (struct line){first, i - first};
        first = i + 1;
    }
}

int64_t text_sequences(const struct text *text, enum sequences sequences, int64_t context)
{
    if (sequences == SEQUENCES_LINES)
        return text->line_count;
    return text->token_count > 0 ? (text->token_count - 1) / context : 0;
}

int64_t text_sequence(
    const struct text *text, enum sequences sequences, int64_t context, int64_t index, const int32_t **tokens)
{
    if (sequences == SEQUENCES_STREAM) {
        *tokens = text->tokens + index * context;
        return context;
    }
    struct line line = text->line[index];
    *tokens = text->tokens + line.first;
    return line.words < context ? line.words : context;
}

int64_t text_rows(const struct text *text, enum sequences sequences, int64_t context, int64_t count)
{
    int64_t rows = 0;

    if (sequences == SEQUENCES_STREAM) {
        int64_t windows = text_sequences(text, sequences, context);
        return (windows < count ? windows : count) * context;
    }
    for (int64_t i = 0; i < text->length_count && count > 0; i++) {
        struct line_length length = text->length[i];
        int64_t lines = length.lines < count ? length.lines : count;
        rows += lines * (length.words < context ? length.words : context);
        count -= lines;
    }
    return rows;
}

void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = (int64_t)random_below((uint64_t)seed, purpose, first_draw + (uint64_t)i, (uint64_t)i + 1);
        if (j != i)
            order[i] = order[j];
        order[j] = i;
    }
}

void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch)
{
    shuffled(order, count, seed, RANDOM_PERMUTATION, (uint64_t)epoch << 40);
}
