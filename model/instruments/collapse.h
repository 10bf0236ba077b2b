#ifndef NORMSWEEP_MODEL_INSTRUMENTS_COLLAPSE_H
#define NORMSWEEP_MODEL_INSTRUMENTS_COLLAPSE_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/corpora/corpus.h"
#include "model/network/transformer.h"

/*
 * Whether a model still looks at what it reads, from the words that it predicts over a validation: a
 * collapsed one predicts a single word whatever comes in, and its loss is no less than that of a constant
 * prediction.
 */
struct collapse {
    int64_t vocabulary;
    int32_t *predicted; /* [rows] of the batch to come: transformer_evaluate fills it */
    double *times; /* [vocabulary] that each word was predicted */
    double *share; /* [vocabulary] what each word counts in the loss as a target, summed over the sequences */
    double right; /* predictions that were their target */
};

struct collapse_measures {
    double predicted_entropy; /* nats, of the distribution of the predicted words; 0: one word alone */
    double accuracy; /* share of the tokens whose predicted word is the target */
};

/* For batches of up to `rows` rows. */
void collapse_layout(struct collapse *collapse, int64_t vocabulary, int64_t rows, struct arena *arena);

/* Forgets every batch. */
void collapse_begin(struct collapse *collapse);

/* Adds a batch whose words lie in `predicted`. How sequences are packed into batches changes no result. */
void collapse_add(struct collapse *collapse, const struct batch *batch);

/* NaN where no batch was added. */
void collapse_end(const struct collapse *collapse, struct collapse_measures *measures);

/*
 * The loss in nats, on the targets added, of predicting every word as often as it is a target in training:
 * what a model comes to that looks at nothing. A word that never is one there counts as if it were once. On
 * both sides targets are weighted as in the loss: the mean over the sequences of the mean over each one's.
 * NaN where no batch was added. Forgets what was predicted.
 */
double collapse_unigram_loss(
    struct collapse *collapse, const struct text *training, enum sequences sequences, int64_t context);

#endif
