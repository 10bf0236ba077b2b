#ifndef NORMSWEEP_MODEL_CORPORA_BATCHES_H
#define NORMSWEEP_MODEL_CORPORA_BATCHES_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/corpora/corpus.h"

/*
 * The training batches of a run: those of step t = 1, 2, ... are a function of (text, how it is cut, batch
 * size, seed, t) alone, so a resumed run needs no state. Epoch e = 0, 1, ... takes the first floor(N/B) * B
 * of its permutation of the N sequences, B a step, in order.
 */
struct batches {
    const struct text *text; /* borrowed */
    enum sequences sequences;
    int64_t context, batch_size, seed;
    int64_t sequence_count; /* N */
    int64_t *order; /* [N] */
    int64_t order_epoch; /* whose permutation `order` holds; -1: none yet */
};

/* Room for `rows` rows, in as many sequences at most. */
void batch_layout(struct batch *batch, int64_t rows, struct arena *arena);

void batches_layout(struct batches *batches, const struct text *text, enum sequences sequences,
    int64_t context, int64_t batch_size, int64_t seed, struct arena *arena);

/* floor(N/B), the steps of an epoch; 0 when the text has fewer than B sequences. */
int64_t batches_per_epoch(const struct batches *batches);

/*
 * Packs the batch of a step, steps in any order; there must be at least one in an epoch. `batch` has room for
 * batch_size sequences of `context` rows.
 */
void batches_fill(struct batches *batches, int64_t step, struct batch *batch);

/*
 * The sequences of a validation, in file order, on the first `tokens` tokens of a text (INT64_MAX: all of
 * it). stream: the windows that lie within them. lines: the lines until as many predictions have been made.
 * At least one sequence, where the text has any.
 */
struct validation {
    const struct text *text; /* borrowed */
    enum sequences sequences;
    int64_t context;
    int64_t sequence_count; /* in the whole validation */
    int64_t next; /* the sequence that comes next */
};

void validation_init(struct validation *validation, const struct text *text, enum sequences sequences,
    int64_t context, int64_t tokens);

/*
 * Packs further sequences, in order, as many as fit `rows` rows and one at least. Returns how many: 0 at the
 * end.
 */
int64_t validation_next(struct validation *validation, int64_t rows, struct batch *batch);

#endif
