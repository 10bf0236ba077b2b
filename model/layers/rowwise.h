#ifndef NORMSWEEP_MODEL_LAYERS_ROWWISE_H
#define NORMSWEEP_MODEL_LAYERS_ROWWISE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* Operations on each row of the activations, by the whole team. */

/* sums [columns] = the sum over the rows of in [rows, columns], added to sums if `add`. */
void column_sums(
    const struct team *team, scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add);

/* out [count] = a + factor b; a may be NULL, out may be a or b. */
void add_scaled(
    const struct team *team, scalar *out, const scalar *a, const scalar *b, double factor, int64_t count);

/* Rows of `vocabulary` logits, each with its target. */
struct entropy {
    const struct team *team;
    const int32_t *target; /* [rows] */
    const scalar *weight; /* [rows] in the loss whose gradient is wanted; NULL: no gradient */
    double z_loss; /* times log_sum^2, which is part of that loss */
    double *log_sum; /* [rows] the logarithms of the sums of exp(logits) */
    int64_t rows, vocabulary;
};

/*
 * loss[r] = -log softmax(logits[r])[target[r]]; sets log_sum. With weights, replaces the logits by the
 * gradient of the sum of weight[r] * (loss[r] + z_loss * log_sum[r]^2).
 */
void cross_entropy_rows(const struct entropy *entropy, double *loss, scalar *logits);

/*
 * After cross_entropy_rows with weights, which has left the gradient in dlogits: replaces the tangents of the
 * logits by those of the gradient; tloss[r] = the tangent of weight[r] * (loss[r] + z_loss * log_sum[r]^2).
 */
void cross_entropy_tangent_rows(
    const struct entropy *entropy, double *tloss, scalar *tlogits, const scalar *dlogits);

/* predicted[r] = the word of row r's largest logit, the first of equal ones; NaN counts as the smallest. */
void predicted_rows(
    const struct team *team, int32_t *predicted, const scalar *logits, int64_t rows, int64_t vocabulary);

#endif
