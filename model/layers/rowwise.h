#ifndef NORMSWEEP_MODEL_LAYERS_ROWWISE_H
#define NORMSWEEP_MODEL_LAYERS_ROWWISE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* Operations on each row of the activations, by the whole team. */

/* One LayerNorm: its tensors [width], their gradients, and its statistics [rows]. bias, dbias may be NULL. */
struct layernorm {
    const struct team *team;
    const scalar *gain, *bias;
    scalar *dgain, *dbias;
    scalar *mean, *scale; /* of each row: mean, 1 / sqrt(variance + 1e-5) */
    int64_t width;
};

/* out = residual + LN(in); residual may be NULL. Sets mean and scale. */
void layernorm_forward(
    const struct layernorm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows);

/*
 * din from dout and the forward pass's in. Overwrites din, which may then be dout, or adds to it if `add`;
 * overwrites dgain and dbias.
 */
void layernorm_gradient(
    const struct layernorm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add);

/* sums [columns] = the sum over the rows of in [rows, columns], added to sums if `add`. */
void column_sums(
    const struct team *team, scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add);

/* y = gelu(x), or its tanh approximation; replaces x by the slope, which gelu_gradient multiplies dx by. */
void gelu_forward(const struct team *team, scalar *y, scalar *x, int64_t count, bool tanh);
void gelu_gradient(const struct team *team, scalar *dx, const scalar *slope, int64_t count);

/*
 * loss[r] = -log softmax(logits[r])[target[r]] for rows of `vocabulary` logits. If weight [rows] is not NULL,
 * replaces the logits by the gradient of the sum of weight[r] * loss[r].
 */
void cross_entropy_rows(const struct team *team, double *loss, scalar *logits, const int32_t *target,
    const scalar *weight, int64_t rows, int64_t vocabulary);

/* predicted[r] = the word of row r's largest logit, the first of equal ones; NaN counts as the smallest. */
void predicted_rows(
    const struct team *team, int32_t *predicted, const scalar *logits, int64_t rows, int64_t vocabulary);

#endif
