/*
 * The tokens of a text and where its lines and sequences begin; memory for them, refused beyond what the
 * process may use; and the permutation of an epoch.
 */
#include "model/corpora/inside.h"

#include "model/core/limits.h"
#include "model/kernels/kernels.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHUFFLED_AT_ONCE = 256 };

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

struct line text_sequence(const struct text *text, enum sequences sequences, int64_t context, int64_t index)
{
    if (sequences == SEQUENCES_STREAM)
        return (struct line){index * context, context};
    struct line line = text->line[index];
    line.words = line.words < context ? line.words : context;
    return line;
}

void text_copy(const struct text *text, int64_t first, int64_t count, int32_t *to)
{
    if (text->tokens)
        memcpy(to, text->tokens + first, (size_t)count * sizeof(*to));
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = le16toh(text->mapped[first + i]);
}

void shuffled(int64_t *order, int64_t count, int64_t seed, enum random_purpose purpose, uint64_t first_draw)
{
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);
    uint64_t bits[SHUFFLED_AT_ONCE];

    for (int64_t done = 0, end; done < count; done = end) {
        end = count - done < SHUFFLED_AT_ONCE ? count : done + SHUFFLED_AT_ONCE;
        kernels->draw_bits(bits, end - done, (uint64_t)seed, purpose, first_draw + (uint64_t)done);
        for (int64_t i = done; i < end; i++) {
            int64_t j = (int64_t)random_share(bits[i - done], (uint64_t)i + 1);
            if (j != i)
                order[i] = order[j];
            order[j] = i;
        }
    }
}

void epoch_permutation(int64_t *order, int64_t count, int64_t seed, int64_t epoch)
{
    shuffled(order, count, seed, RANDOM_PERMUTATION, (uint64_t)epoch << 40);
}
