#ifndef NORMSWEEP_MODEL_CORE_BATCH_H
#define NORMSWEEP_MODEL_CORE_BATCH_H

#include <stdint.h>

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

/* The tokens of one side of a batch, or of a part of it: what one stack of a network reads. */
struct packed {
    int64_t sequences, rows;
    const int64_t *start; /* [sequences + 1] first row of each sequence; start[sequences] == rows */
    const int32_t *tokens; /* [rows] */
};

#endif
