#ifndef NORMSWEEP_MODEL_CORPORA_MASKED_H
#define NORMSWEEP_MODEL_CORPORA_MASKED_H

#include <stdint.h>

#include "model/core/batch.h"
#include "model/corpora/text.h"

/*
 * The masked words of BERT (Devlin et al. 2019). Of the n tokens of a sequence, some are chosen, each set of
 * masked_targets(n) of them equally likely: these are the targets, in their own rows. Of the chosen, 80 %
 * become the mask word in the input, 10 % a random word of the corpus, 10 % stay.
 */

/* How many of `length` >= 1 tokens are chosen: at least one. */
int64_t masked_targets(int64_t length);

/* Packs the sequence tokens[first .. first+words-1] of a text; random words are below `vocabulary`; `seed` is
 * that of the draws. */
void masked_append(struct batch *batch, const struct text *text, struct line sequence, int64_t vocabulary,
    int32_t mask, uint64_t seed);

#endif
