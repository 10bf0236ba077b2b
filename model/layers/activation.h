#ifndef NORMSWEEP_MODEL_LAYERS_ACTIVATION_H
#define NORMSWEEP_MODEL_LAYERS_ACTIVATION_H

#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/layers/dual.h"

/* The activations: X(NAME, word, kernel), with the word of the sweep file. A new one is one row here and its
 * kernel, which gives the slope, too. */
#define ACTIVATIONS(X)                                                                                       \
    X(RELU, relu, relu_slope)                                                                                \
    X(GELU, gelu, gelu)                                                                                      \
    X(GELU_TANH, gelu_tanh, gelu_tanh)                                                                       \
    X(SILU, silu, silu)

enum activation {
#define X(NAME, ...) ACTIVATION_##NAME,
    ACTIVATIONS(X)
#undef X
        ACTIVATION_COUNT,
};

extern const char *const activation_words[ACTIVATION_COUNT + 1]; /* ends with NULL */

/* y = activation(x); replaces x by the slope at x; curvature, if not NULL, by the second derivative. */
void activation_forward(const struct team *team, enum activation activation, scalar *y, scalar *x,
    scalar *curvature, int64_t count);

/* out = a b by elements; out may be a or b. */
void multiply(const struct team *team, scalar *out, const scalar *a, const scalar *b, int64_t count);

/* The tangent of a b by elements; tout may be any of the four planes. */
void multiply_tangent(const struct team *team, scalar *tout, struct dual a, struct dual b, int64_t count);

#endif
