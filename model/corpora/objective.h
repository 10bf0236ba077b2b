#ifndef NORMSWEEP_MODEL_CORPORA_OBJECTIVE_H
#define NORMSWEEP_MODEL_CORPORA_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/batch.h"
#include "model/corpora/text.h"

/*
 * What a network learns to predict: the next word; the words of spans that the source lacks (Raffel et al.
 * 2020); masked words in their places (Devlin et al. 2019).
 */
enum objective { OBJECTIVE_NEXT, OBJECTIVE_SPANS, OBJECTIVE_MASKED };

/* The words that an objective adds to the vocabulary of the corpus, for sequences of up to `context` tokens:
 * the sentinels of spans, or the mask. */
int64_t objective_words_added(enum objective objective, int64_t context);

/*
 * The spans of T5 (Raffel et al. 2020; random_spans_noise_mask of its code). Of the n tokens of a sequence,
 * 15 % lie in spans, of which there are a third as many, rounded, at least one; gap and span
 * alternate, and the sequence begins with a gap. Of all ways to cut the tokens in spans into so many spans,
 * and those in gaps into so many gaps, each is equally likely. In the source, sentinel V + i replaces span i
 * = 0, 1, ...; the targets are sentinel V, the tokens of span 0, sentinel V + 1, ..., <eos>; the rows are
 * <eos> and the targets without the last. A sequence of one token has no span: its source is that token, its
 * only target <eos>.
 */

/* The rows of the shortest sequence with a span. */
enum { SPANS_CONTEXT_LEAST = 3 };

/* The number of spans of a sequence of `length` >= 1 tokens; does not fall with the length. */
int64_t spans_count(int64_t length);

/* Of a sequence of `length` tokens: its rows, each with a target, and the tokens of its source; neither falls
 * with the length. Rows are at most max(length, SPANS_CONTEXT_LEAST), source tokens at most `length`. */
int64_t spans_rows(int64_t length);
int64_t spans_source_rows(int64_t length);

/* The words that are not of the text. Above: V, 1, <eos>, <eos>, false. */
struct spans_words {
    int32_t sentinel, step; /* that of span i is sentinel + i step */
    int32_t start, end; /* the first row, the last target */
    bool source_ends; /* with `end`, too: one more token */
};

/* Packs the sequence tokens[first .. first+words-1] of a text; `seed` is that of its draws. */
void spans_append(struct batch *batch, const struct text *text, struct line sequence,
    const struct spans_words *words, uint64_t seed);

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
