#ifndef NORMSWEEP_MODEL_NETWORK_SUBLAYER_H
#define NORMSWEEP_MODEL_NETWORK_SUBLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/layers/dual.h"
#include "model/network/weights.h"

struct pass;
struct sublayer;

/*
 * A kind of sub-layer S and the norm beside it. A block is a list of them; a new kind is a file with these
 * functions and a row of sublayer_table. A kind of networks that are measured and not trained has neither
 * gradients nor tangents: these functions are NULL, and architecture_has_gradients is false.
 */
struct sublayer_row {
    enum tensor_kind gain, shift; /* of the norm */
    /* Takes what S keeps between forward and gradient, and, if `tangents`, for tangents, for up to `rows`
     * rows. */
    void (*layout)(struct sublayer *s, const struct architecture *architecture, int64_t rows, bool tangents,
        struct arena *arena);
    /* out [rows, C] = residual + S(in); residual may be NULL. */
    void (*forward)(const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in,
        const scalar *residual);
    /* din (added to if `add`) and the gradients of S's tensors from dout and the `in` of the forward pass.
     * din may be dout, unless a gradient_tangent follows. */
    void (*gradient)(const struct pass *pass, const struct sublayer *s, scalar *din, const scalar *dout,
        const scalar *in, bool add);
    /* After the forward pass: tout = tresidual + the tangent of S(in); tresidual may be NULL. Keeps in
     * s->tangent the tangents of what S keeps. */
    void (*tangent)(const struct pass *pass, const struct sublayer *s, scalar *tout, struct dual in,
        const scalar *tresidual);
    /* After `tangent` and right after `gradient`: the tangents of what `gradient` has computed. */
    void (*gradient_tangent)(const struct pass *pass, const struct sublayer *s, scalar *tdin,
        struct dual dout, struct dual in, bool add);
    /* Self-attention: after a pass, of each head and row, how many softmax weights are above ATTENDED, count
     * [H, rows]; -1 where they are NaN. NULL: not self-attention. */
    void (*attended)(const struct pass *pass, const struct sublayer *s, int32_t *count);
    bool cross; /* attends to the source's stack */
};

enum sublayer_kind {
    SUBLAYER_ATTENTION,
    SUBLAYER_CROSS,
    SUBLAYER_DISTANCE,
    SUBLAYER_FEEDFORWARD,
    SUBLAYER_KINDS
};

extern const struct sublayer_row sublayer_table[SUBLAYER_KINDS];

/* Where queries, keys and values lie in these planes: see attention.c. */
struct attention_state {
    scalar *projected; /* [rows, H D + 2 K] queries, keys, values */
    scalar *normed; /* [rows, H D + K] queries and keys behind their norms; NULL without */
    scalar *mean[2], *scale[2]; /* [rows, H] statistics of the norms of queries and of keys */
    scalar *mixed; /* [rows, H D] the heads' outputs, before the output projection */
    scalar *most, *inverse; /* [H, rows] statistics of the softmax */
};

/* See distance.c. */
struct distance_state {
    scalar *projected; /* [rows, H D + 2 K] queries with their content bias, keys, values */
    scalar *queries; /* [rows, H D] with their distance bias */
    scalar *keys; /* [2T - 1, H D] of distances, T - 1 first */
    scalar *mixed; /* [rows, H D] */
};

struct feedforward_state {
    scalar *hidden; /* [rows, F] behind the activation */
    scalar *slope; /* [rows, F] before the activation, then its slope; NULL if the product applies relu */
    scalar *gate, *gated; /* [rows, F] x W3, and hidden times it; NULL unless the layer is gated */
    scalar *curvature; /* [rows, F] of the activation, where there is a slope, for tangents; else NULL */
};

/* A sub-layer of one block, and what its forward pass leaves for the gradient. `norm` holds the norm's output
 * under pre and its input under post and out; the norm's other end is `in` or `out`. */
struct sublayer {
    const struct sublayer_row *row;
    int64_t layer;
    scalar *norm; /* [rows, C] */
    scalar *mean, *scale; /* [rows] of the norm */
    scalar *out; /* [rows, C] the residual stream behind it */
    struct sublayer *tangent; /* the tangents of norm, out and state; NULL if the model takes none */
    union {
        struct attention_state attention;
        struct distance_state distance;
        struct feedforward_state feedforward;
    } state;
};

void sublayer_layout(struct sublayer *s, enum sublayer_kind kind, int64_t layer,
    const struct architecture *architecture, int64_t rows, bool tangents, struct arena *arena);

/* s->out from the residual stream x before it. */
void sublayer_forward(const struct pass *pass, const struct sublayer *s, const scalar *x);

/* After the forward pass: s->tangent->out, the tangent of s->out, from that of x. */
void sublayer_tangent(const struct pass *pass, const struct sublayer *s, struct dual x);

/* The activations' dstream from the gradient of s->out to that of x; in a pass with tgradient, after
 * sublayer_tangent, likewise the tangent of dstream. */
void sublayer_gradient(const struct pass *pass, const struct sublayer *s, struct dual x);

#endif
