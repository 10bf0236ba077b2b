/*
 * Batches for training and validation. Which sequences a batch has follows from the seed and the step alone:
 * each epoch is a permutation of the sequences. A resumed run needs no state, and memory is the arena's.
 */
#include "model/corpora/corpora.h"

/* Draws of validations: those of an epoch that no run reaches, under a seed of their own. */
enum { VALIDATION_SEED = 0, VALIDATION_EPOCH = 0xffffff };

void batch_layout(struct batch *batch, struct batch_rows room, struct arena *arena)
{
    size_t rows = (size_t)room.rows, source = (size_t)room.source;

    *batch = (struct batch){
        .start = arena_take(arena, rows + 1, sizeof(*batch->start)),
        .tokens = arena_take(arena, rows, sizeof(*batch->tokens)),
        .target = arena_take(arena, rows, sizeof(*batch->target)),
    };
    if (source > 0) {
        batch->source_start = arena_take(arena, rows + 1, sizeof(*batch->source_start));
        batch->source_tokens = arena_take(arena, source, sizeof(*batch->source_tokens));
    }
}

/* Makes a batch empty, for reading_append. */
static void batch_clear(struct batch *batch)
{
    batch->sequences = batch->rows = batch->start[0] = 0;
    batch->source_rows = 0;
    if (batch->source_start)
        batch->source_start[0] = 0;
}

void batches_layout(struct batches *batches, const struct text *text, const struct reading *reading,
    int64_t batch_size, struct arena *arena)
{
    *batches = (struct batches){.text = text,
        .reading = *reading,
        .batch_size = batch_size,
        .sequence_count = reading_sequences(reading, text),
        .order_epoch = -1};
    batches->order = arena_take(arena, (size_t)batches->sequence_count, sizeof(*batches->order));
}

int64_t batches_per_epoch(const struct batches *batches)
{
    return batches->sequence_count / batches->batch_size;
}

void batches_fill(struct batches *batches, int64_t step, struct batch *batch)
{
    int64_t per_epoch = batches_per_epoch(batches);
    int64_t epoch = (step - 1) / per_epoch, first = (step - 1) % per_epoch * batches->batch_size;

    if (epoch != batches->order_epoch) {
        epoch_permutation(batches->order, batches->sequence_count, batches->reading.seed, epoch);
        batches->order_epoch = epoch;
    }
    batch_clear(batch);
    for (int64_t i = first; i < first + batches->batch_size; i++)
        reading_append(&batches->reading, batches->text, batches->order[i], epoch, batch);
}

void validation_init(
    struct validation *validation, const struct text *text, const struct reading *reading, int64_t tokens)
{
    int64_t all = reading_sequences(reading, text), within = 0, counted = 0;

    if (reading->sequences == SEQUENCES_LINES)
        while (within < text->line_count && counted < tokens)
            counted += reading_counted(reading, text, within++);
    else
        within = (tokens - 1) / reading->context;
    if (within < 1)
        within = 1;
    *validation =
        (struct validation){.text = text, .reading = *reading, .sequence_count = within < all ? within : all};
    validation->reading.seed = VALIDATION_SEED;
}

int64_t validation_next(struct validation *validation, struct batch_rows room, struct batch *batch)
{
    batch_clear(batch);
    while (validation->next < validation->sequence_count) {
        struct batch_rows next = reading_extent(&validation->reading, validation->text, validation->next);
        if (batch->sequences &&
            (batch->rows + next.rows > room.rows || batch->source_rows + next.source > room.source))
            break;
        reading_append(&validation->reading, validation->text, validation->next++, VALIDATION_EPOCH, batch);
    }
    return batch->sequences;
}

void validation_sequence(
    const struct text *text, const struct reading *reading, int64_t index, struct batch *batch)
{
    struct reading fixed = *reading;

    fixed.seed = VALIDATION_SEED;
    batch_clear(batch);
    reading_append(&fixed, text, index, VALIDATION_EPOCH, batch);
}
