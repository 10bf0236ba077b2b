#ifndef NORMSWEEP_MODEL_CORPORA_OBJECTIVE_H
#define NORMSWEEP_MODEL_CORPORA_OBJECTIVE_H

#include <stdint.h>

/*
 * What a network learns to predict: the next word; the words of spans that the source lacks (Raffel et al.
 * 2020); masked words in their places (Devlin et al. 2019).
 */
enum objective { OBJECTIVE_NEXT, OBJECTIVE_SPANS, OBJECTIVE_MASKED };

/* The words that an objective adds to the vocabulary of the corpus, for sequences of up to `context` tokens:
 * the sentinels of spans, or the mask. */
int64_t objective_words_added(enum objective objective, int64_t context);

/* How many of the tokens of a sequence spans and masks take away: 15 %, rounded to the nearest integer and
 * ties to the even one, as in the code of T5 and BERT. */
int64_t objective_noise(int64_t length);

#endif
