#ifndef NORMSWEEP_MODEL_INSTRUMENTS_COLLAPSE_H
#define NORMSWEEP_MODEL_INSTRUMENTS_COLLAPSE_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/corpora/corpus.h"
#include "model/corpora/reading.h"
#include "model/network/transformer.h"

/*
 * Tells from the words that a model predicts over a validation whether it still uses its input. A collapsed
 * model predicts a single word for every input, and its loss is at least that of a constant prediction.
 */
struct collapse {
    int64_t vocabulary;
    int32_t *predicted; /* [rows] of the next batch; transformer_evaluate fills it */
    double *times; /* [vocabulary] how often each word was predicted */
    double *share; /* [vocabulary] weight of each word as a target in the loss, summed over the sequences */
    double right; /* predictions that equal their target */
};

struct collapse_measures {
    double predicted_entropy; /* nats, of the distribution of the predicted words; 0: always one word */
    double accuracy; /* share of the targets that are the predicted word */
};

/* For batches of up to `rows` rows. */
void collapse_layout(struct collapse *collapse, int64_t vocabulary, int64_t rows, struct arena *arena);

/* Forgets every batch. */
void collapse_begin(struct collapse *collapse);

/* Adds a batch whose predictions are in `predicted`; rows without a target do not count. Results do not
 * depend on how sequences are packed. */
void collapse_add(struct collapse *collapse, const struct batch *batch);

/* The measures of all added batches, NaN without any. */
void collapse_end(const struct collapse *collapse, struct collapse_measures *measures);

/*
 * The loss in nats, on the added targets, of predicting each word as often as it is a target in training: the
 * best that a model can do without its input. A word that is never a target in training counts as one target.
 * Both sides weight targets as the loss does: the mean over sequences of the mean within each. Where targets
 * are drawn, training has the draws of a validation, so that the loss is the same in all runs. A mapped file
 * of more than UNIGRAM_MOST tokens is counted in sequences of so many tokens, evenly spaced: each run would
 * read the whole file. NaN if no batch was added. Overwrites `times`, and `scratch`, which has room for any
 * one sequence.
 */
double collapse_unigram_loss(struct collapse *collapse, const struct text *training,
    const struct reading *reading, struct batch *scratch);

enum { UNIGRAM_MOST = 1 << 24 };

/* The unigram loss of a reading of a corpus, kept from one run to the next: runs of milliseconds would spend
 * a tenth of their time on counting the same texts again. {0}: none. */
struct unigram {
    bool known;
    struct digest corpus;
    struct reading reading;
    int64_t tokens; /* of the validation */
    double loss;
};

/* Is it that of this reading, on the first `tokens` tokens of the validation text? The seed has no effect. */
bool unigram_is_of(const struct unigram *unigram, const struct corpus *corpus, const struct reading *reading,
    int64_t tokens);

#endif
