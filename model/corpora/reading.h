#ifndef NORMSWEEP_MODEL_CORPORA_READING_H
#define NORMSWEEP_MODEL_CORPORA_READING_H

#include <stdint.h>

#include "model/core/batch.h"
#include "model/corpora/text.h"

/*
 * What becomes of a sequence of n tokens of a text, cut to T = context:
 * - next: each token predicts the one after it; n rows.
 * - spans, masked: see spans.h and masked.h.
 * - pair: the source is a line and its <eos>; the rows are <eos> and the words of the line that translates
 *   it, which predict these words and <eos>. Each side is cut to T tokens.
 * - last: n rows, of which only the last has a target, the token after it.
 */
enum task { TASK_NEXT, TASK_SPANS, TASK_MASKED, TASK_PAIR, TASK_LAST };

/* The words of a network of others that are not of its text, where corpora have words behind their own. */
struct foreign_words {
    int32_t mask;
    int32_t sentinel; /* the first; each next one is one lower */
    int32_t start, end; /* of spans: what the decoder begins with, what ends source and targets */
};

/* How sequences are made of a text, and how they are drawn. */
struct reading {
    enum sequences sequences;
    enum task task;
    int64_t context; /* T, the most rows of a sequence, and the most tokens of its source */
    int64_t vocabulary; /* of the corpus; the words from here on are the sentinels, or the mask */
    int32_t end_of_line; /* <eos> */
    int64_t seed; /* of the order of the sequences and of all draws */
    const struct foreign_words *foreign; /* borrowed; NULL: a corpus's own words */
};

/* The number of sequences of a text. */
int64_t reading_sequences(const struct reading *reading, const struct text *text);

/* Rows on either side of a batch; source: 0 for tasks without one. */
struct batch_rows {
    int64_t rows, source;
};

/* Those of sequence `index`. */
struct batch_rows reading_extent(const struct reading *reading, const struct text *text, int64_t index);

/* The most that a batch of `count` sequences can have on either side, without foreign words. Costs a pass
 * over the lengths of lines.
 */
struct batch_rows reading_rows(const struct reading *reading, const struct text *text, int64_t count);

/* The number of predictions of sequence `index`. */
int64_t reading_targets(const struct reading *reading, const struct text *text, int64_t index);

/* What sequence `index` counts of validate.tokens: its tokens in the text, of a pair those of the target; 1
 * for `last`. */
int64_t reading_counted(const struct reading *reading, const struct text *text, int64_t index);

/*
 * Packs sequence `index`, as it is drawn in `epoch` < 2^24, behind those of the batch, which must have room:
 * a function of (text, reading, index, epoch) alone.
 */
void reading_append(const struct reading *reading, const struct text *text, int64_t index, int64_t epoch,
    struct batch *batch);

#endif
