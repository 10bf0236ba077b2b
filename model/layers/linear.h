#ifndef NORMSWEEP_MODEL_LAYERS_LINEAR_H
#define NORMSWEEP_MODEL_LAYERS_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* A linear layer y = x W^T + b and its gradients. bias and dbias may be NULL. */
struct linear {
    const struct team *team;
    const scalar *weight; /* [out, in] */
    const scalar *bias; /* [out] */
    scalar *dweight; /* [out, in] */
    scalar *dbias; /* [out] */
    int64_t in, out;
};

/* y [rows, out] = residual + x W^T + b, negative elements set to 0 if `relu`; residual [rows, out] may be
 * NULL. */
void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows, bool relu);

/* dweight and dbias from dy [rows, out] and x [rows, in]. Overwrites both, or adds to them if `add`. */
void linear_weight_gradient(
    const struct linear *linear, const scalar *dy, const scalar *x, int64_t rows, bool add);

/*
 * dx [rows, in] from dy [rows, out]. Overwrites dx, or adds to it if `add`; then sets it to 0 where gate
 * [rows, in] is 0. gate may be NULL. dx must not be dy.
 */
void linear_input_gradient(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *gate, int64_t rows, bool add);

#endif
