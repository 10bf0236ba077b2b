#ifndef NORMSWEEP_MODEL_LAYERS_LINEAR_H
#define NORMSWEEP_MODEL_LAYERS_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/layers/dual.h"

/*
 * A linear layer y = x W^T + b, its gradients, its tangents and the tangents of its gradients. What a pass
 * does not have is NULL: a bias, gradients of the tensors, tangents of the tensors (which count as 0).
 */
struct linear {
    const struct team *team;
    const scalar *weight; /* [out, in] */
    const scalar *bias; /* [out] */
    scalar *dweight; /* [out, in] */
    scalar *dbias; /* [out] */
    int64_t in, out;
    const scalar *tweight, *tbias;
    scalar *tdweight, *tdbias;
};

/* y [rows, out] = residual + x W^T + b, negative elements set to 0 if `relu`; residual [rows, out] may be
 * NULL. */
void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows, bool relu);

/* dweight and dbias from dy [rows, out] and x [rows, in]. Overwrites both, or adds to them if `add`. Does
 * nothing if dweight is NULL. */
void linear_weight_gradient(
    const struct linear *linear, const scalar *dy, const scalar *x, int64_t rows, bool add);

/*
 * dx [rows, in] from dy [rows, out]. Overwrites dx, or adds to it if `add`; then sets it to 0 where gate
 * [rows, in] is 0. gate may be NULL. dx must not be dy.
 */
void linear_input_gradient(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *gate, int64_t rows, bool add);

/* ty [rows, out] = tresidual + the tangent of x W^T + b, then 0 where gate [rows, out] is 0. tresidual and
 * gate may be NULL. */
void linear_tangent(const struct linear *linear, scalar *ty, struct dual x, const scalar *tresidual,
    const scalar *gate, int64_t rows);

/* The tangents of what linear_weight_gradient and linear_input_gradient compute. */
void linear_weight_gradient_tangent(
    const struct linear *linear, struct dual dy, struct dual x, int64_t rows, bool add);
void linear_input_gradient_tangent(
    const struct linear *linear, scalar *tdx, struct dual dy, const scalar *gate, int64_t rows, bool add);

#endif
