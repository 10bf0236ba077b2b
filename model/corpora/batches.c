#include "model/corpora/batches.h"

#include <string.h>

void batch_layout(struct batch *batch, int64_t rows, struct arena *arena)
{
    *batch = (struct batch){
        .start = arena_take(arena, (size_t)rows + 1, sizeof(*batch->start)),
        .tokens = arena_take(arena, (size_t)rows, sizeof(*batch->tokens)),
        .target = arena_take(arena, (size_t)rows, sizeof(*batch->target)),
        .source_start = arena_take(arena, (size_t)rows + 1, sizeof(*batch->source_start)),
        .source_tokens = arena_take(arena, (size_t)rows, sizeof(*batch->source_tokens)),
    };
}

void batches_layout(struct batches *batches, const struct text *text, enum sequences sequences,
    int64_t context, int64_t batch_size, int64_t seed, struct arena *arena)
{
    *batches = (struct batches){.text = text,
        .sequences = sequences,
        .context = context,
        .batch_size = batch_size,
        .seed = seed,
        .sequence_count = text_sequences(text, sequences, context),
        .order_epoch = -1};
    batches->order = arena_take(arena, (size_t)batches->sequence_count, sizeof(*batches->order));
}

int64_t batches_per_epoch(const struct batches *batches)
{
    return batches->sequence_count / batches->batch_size;
}

static void batch_clear(struct batch *batch)
{
    batch->sequences = batch->rows = batch->start[0] = 0;
}

static void batch_append(struct batch *batch, const int32_t *tokens, int64_t rows)
{
    memcpy(batch->tokens + batch->rows, tokens, (size_t)rows * sizeof(*tokens));
    memcpy(batch->target + batch->rows, tokens + 1, (size_t)rows * sizeof(*tokens));
    batch->rows += rows;
    batch->start[++batch->sequences] = batch->rows;
}

void batches_fill(struct batches *batches, int64_t step, struct batch *batch)
{
    int64_t per_epoch = batches_per_epoch(batches);
    int64_t epoch = (step - 1) / per_epoch, first = (step - 1) % per_epoch * batches->batch_size;

    if (epoch != batches->order_epoch) {
        epoch_permutation(batches->order, batches->sequence_count, batches->seed, epoch);
        batches->order_epoch = epoch;
    }
    batch_clear(batch);
    for (int64_t i = first; i < first + batches->batch_size; i++) {
        const int32_t *tokens;
        int64_t rows =
            text_sequence(batches->text, batches->sequences, batches->context, batches->order[i], &tokens);
        batch_append(batch, tokens, rows);
    }
}

/* The number of lines that together make at least `tokens` predictions. */
static int64_t lines_within(const struct text *text, int64_t context, int64_t tokens)
{
    const int32_t *line;
    int64_t count = 0, predictions = 0;

    while (count < text->line_count && predictions < tokens)
        predictions += text_sequence(text, SEQUENCES_LINES, context, count++, &line);
    return count;
}

void validation_init(struct validation *validation, const struct text *text, enum sequences sequences,
    int64_t context, int64_t tokens)
{
    int64_t all = text_sequences(text, sequences, context), within;

    if (sequences == SEQUENCES_LINES)
        within = lines_within(text, context, tokens);
    else
        within = (tokens - 1) / context;
    if (within < 1)
        within = 1;
    *validation = (struct validation){.text = text,
        .sequences = sequences,
        .context = context,
        .sequence_count = within < all ? within : all};
}

int64_t validation_next(struct validation *validation, int64_t rows, struct batch *batch)
{
    batch_clear(batch);
    while (validation->next < validation->sequence_count) {
        const int32_t *tokens;
        int64_t length = text_sequence(
            validation->text, validation->sequences, validation->context, validation->next, &tokens);
        if (batch->sequences && batch->rows + length > rows)
            break;
        batch_append(batch, tokens, length);
        validation->next++;
    }
    return batch->sequences;
}
