#ifndef NORMSWEEP_MODEL_CORE_BATCH_H
#define NORMSWEEP_MODEL_CORE_BATCH_H

#include <stdint.h>

/* Sequences packed one after another: one side of a batch. All borrowed. */
struct packed {
    int64_t sequences, rows;
    const int64_t *start; /* [sequences + 1] */
    const int32_t *tokens; /* [rows] */
};

/*
 * Sequences packed one after another, without padding. rows is the sum of their lengths. Each sequence has at
 * least one target. For an encoder-decoder, sequence i also has a source, which its encoder reads: the tokens
 * source_tokens[source_start[i] .. source_start[i + 1] - 1], at least one; other networks do not read the
 * source.
 */
struct batch {
    int64_t sequences, rows;
    int64_t *start; /* [sequences + 1] first row of each sequence; start[sequences] == rows */
    int32_t *tokens; /* [rows] */
    int32_t *target; /* [rows] the word to predict; NO_TARGET: none, the row counts in no loss */
    int64_t source_rows;
    int64_t *source_start; /* [sequences + 1], like start */
    int32_t *source_tokens; /* [source_rows] */
};

enum { NO_TARGET = -1 };

/* The first sequence of a batch alone. */
static inline struct batch batch_first(const struct batch *batch)
{
    struct batch first = *batch;

    first.sequences = 1;
    first.rows = batch->start[1];
    first.source_rows = batch->source_start ? batch->source_start[1] : 0;
    return first;
}

#endif
