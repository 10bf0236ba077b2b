#ifndef NORMSWEEP_MODEL_LINEAR_H
#define NORMSWEEP_MODEL_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/kernels.h"
#include "model/scalar.h"

/* A linear layer y = x W^T + b and where its gradients go. bias and dbias may be NULL. */
struct linear {
    const struct kernels *kernels;
    const scalar *weight; /* [out, in] */
    const scalar *bias; /* [out] */
    scalar *dweight; /* [out, in] */
    scalar *dbias; /* [out] */
    int64_t in, out;
};

/* y [rows, out] = residual + x W^T + b; residual [rows, out] may be NULL. */
void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows);

/*
 * dweight and dbias overwritten; dx [rows, in] overwritten, or added to if `add`. dx is not dy.
 */
void linear_gradient(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *x, int64_t rows, bool add);

/* The same for a part of the rows, dx overwritten: dweight and dbias are added to if `more`. */
void linear_gradient_part(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *x, int64_t rows, bool more);

#endif
