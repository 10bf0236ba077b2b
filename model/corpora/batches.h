#ifndef NORMSWEEP_MODEL_CORPORA_BATCHES_H
#define NORMSWEEP_MODEL_CORPORA_BATCHES_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/corpora/reading.h"

/*
 * The training batches of a run. The batch of step t = 1, 2, ... is a function of (text, reading, batch size,
 * t) alone, so a resumed run needs no state. Epoch e = 0, 1, ... takes the first floor(N/B) * B sequences of
 * its permutation of all N, in order, B per step; each epoch has its own draws, too.
 */
struct batches {
    const struct text *text; /* borrowed */
    struct reading reading;
    int64_t batch_size;
    int64_t sequence_count; /* N */
    int64_t *order; /* [N] */
    int64_t order_epoch; /* the epoch whose permutation `order` holds; -1: none yet */
};

/* Takes room for `rows` rows, in up to as many sequences, without sources. */
void batch_layout(struct batch *batch, int64_t rows, struct arena *arena);

/* The same with sources, unless room.source is 0. */
void batch_layout_both(struct batch *batch, struct batch_rows room, struct arena *arena);

void batches_layout(struct batches *batches, const struct text *text, const struct reading *reading,
    int64_t batch_size, struct arena *arena);

/* floor(N/B), the steps of an epoch; 0 if the text has fewer than B sequences. */
int64_t batches_per_epoch(const struct batches *batches);

/*
 * Packs the batch of a step; steps may come in any order. An epoch must have at least one step, and `batch`
 * room for reading_rows of batch_size sequences.
 */
void batches_fill(struct batches *batches, int64_t step, struct batch *batch);

/*
 * The sequences of a validation, in file order, on the first `tokens` tokens of a text (INT64_MAX: the whole
 * text). stream: the windows that lie within these tokens. lines: as many as reading_counted needs to count
 * `tokens`. At least one sequence if the text has any. The draws do not depend on the seed of the reading:
 * they are the same in every validation of every run.
 */
struct validation {
    const struct text *text; /* borrowed */
    struct reading reading;
    int64_t sequence_count; /* in the whole validation */
    int64_t next; /* index of the next sequence */
};

void validation_init(
    struct validation *validation, const struct text *text, const struct reading *reading, int64_t tokens);

/* Packs the next sequences, as many as fit the room on both sides but at least one. Returns their number, 0
 * at the end. */
int64_t validation_next(struct validation *validation, struct batch_rows room, struct batch *batch);

/* Packs sequence `index` of a text alone, with the draws of validations. */
void validation_sequence(
    const struct text *text, const struct reading *reading, int64_t index, struct batch *batch);

#endif
