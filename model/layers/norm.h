#ifndef NORMSWEEP_MODEL_LAYERS_NORM_H
#define NORMSWEEP_MODEL_LAYERS_NORM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/*
 * The norms: X(KIND, word, shift). `word` is the one of the sweep file and the name of the kernel, beside
 * word_gradient; `shift`: it has a bias as well as a gain. A new norm is one row here and its two kernels.
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

/* One norm: its tensors [width], their gradients, and its statistics [rows]. bias, dbias may be NULL. */
struct norm {
    const struct team *team;
    enum norm_kind kind;
    const scalar *gain, *bias;
    scalar *dgain, *dbias;
    scalar *mean, *scale; /* of each row: mean, or 0 for rmsnorm; 1 / sqrt(variance + 1e-5) */
    int64_t width;
};

/* out = residual + norm(in); residual may be NULL. Sets mean and scale. */
void norm_forward(
    const struct norm *norm, scalar *out, const scalar *in, const scalar *residual, int64_t rows);

/*
 * din from dout and the forward pass's in. Overwrites din, which may then be dout, or adds to it if `add`;
 * overwrites dgain and dbias.
 */
void norm_gradient(
    const struct norm *norm, scalar *din, const scalar *dout, const scalar *in, int64_t rows, bool add);

#endif
