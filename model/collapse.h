#ifndef NORMSWEEP_MODEL_COLLAPSE_H
#define NORMSWEEP_MODEL_COLLAPSE_H

#include <stdint.h>

#include "model/arena.h"
#include "model/transformer.h"

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
    /* nats: the least loss that any constant prediction has on the same tokens, each weighted as in the loss
     * (mean over the sequences of the mean over each one's tokens): the entropy of their distribution. */
    double unigram_loss;
};

/* For batches of up to `rows` rows. */
void collapse_layout(struct collapse *collapse, int64_t vocabulary, int64_t rows, struct arena *arena);

/* Forgets every batch. */
void collapse_begin(struct collapse *collapse);

/* Adds a batch whose words lie in `predicted`. How sequences are packed into batches changes no result. */
void collapse_add(struct collapse *collapse, const struct batch *batch);

/* NaN where no batch was added. */
void collapse_end(const struct collapse *collapse, struct collapse_measures *measures);

#endif
