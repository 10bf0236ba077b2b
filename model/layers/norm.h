#ifndef NORMSWEEP_MODEL_LAYERS_NORM_H
#define NORMSWEEP_MODEL_LAYERS_NORM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/layers/dual.h"

/*
 * The norms: X(KIND, word, shift). `word` is the one of the sweep file and the name of the kernel, beside
 * word_gradient, word_tangent and word_gradient_tangent; `shift`: it has a bias as well as a gain. A new norm
 * is one row here and its four kernels.
 */
#define NORMS(X)                                                                                             \
    X(LAYERNORM, layernorm, true)                                                                            \
    X(RMSNORM, rmsnorm, false)

enum norm_kind {
#define X(KIND, ...) KIND,
    NORMS(X)
#undef X
        NORM_KIND_COUNT,
};

struct norm_row {
    const char *word;
    bool shift;
};

extern const struct norm_row norm_table[NORM_KIND_COUNT];
extern const char *const norm_words[NORM_KIND_COUNT + 1]; /* ends with NULL */

/*
 * One norm: its tensors [width], their gradients, its statistics [rows], and the tangents of the tensors and
 * of their gradients. What a pass does not have is NULL: a bias, gradients, tangents (which count as 0).
 */
struct norm {
    const struct team *team;
    enum norm_kind kind;
    const scalar *gain, *bias;
    scalar *dgain, *dbias;
    scalar *mean, *scale; /* of each row: mean, or 0 for rmsnorm; 1 / sqrt(variance + epsilon) */
    double epsilon;
    bool wide; /* forward: rows whose variance overflows the scalar are computed in double, else they are NaN
                */
    int64_t width;
    const scalar *tgain, *tbias;
    scalar *tdgain, *tdbias;
};

/* out = residual + norm(in); residual may be NULL. Sets mean and scale. */
void norm_forward(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows);

/*
 * din from dout and the forward pass's in. Overwrites din, which may then be dout, or adds to it if `add`;
 * overwrites dgain and dbias, if they are not NULL.
 */
void norm_gradient(
    const struct norm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add);

/* After the forward pass: tout = tresidual + the tangent of norm(in); tresidual may be NULL. */
void norm_tangent(
    const struct norm *norm, scalar *tout, struct dual in, const scalar *tresidual, int64_t rows);

/* The tangents of what norm_gradient computes. tdin may be dout.tangent unless `add`. */
void norm_gradient_tangent(
    const struct norm *norm, scalar *tdin, struct dual dout, struct dual in, int64_t rows, bool add);

#endif
