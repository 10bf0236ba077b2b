#ifndef NORMSWEEP_MODEL_LAYERS_LAYERS_H
#define NORMSWEEP_MODEL_LAYERS_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"

/* ---- dual ---- */

/*
 * A plane and its tangent, the derivative of the plane along one direction of the weights or of the input.
 * Functions of the layers that take duals have two forms. Without a tangent, a forward function computes the
 * layer's output, and a gradient function gradients. With one, after that, they compute the tangents of the
 * same things: forward the Jacobian times the direction, backward the derivative of the gradient along it.
 * The tangent of the forward function's input decides, or that of the output's gradient. Names: tx is the
 * tangent of x, tdx that of the gradient dx.
 */
struct dual {
    const scalar *at, *tangent;
};

/* With its tangent only if `tangents`. */
static inline struct dual dual_of(const scalar *at, const scalar *tangent, bool tangents)
{
    return (struct dual){at, tangents ? tangent : NULL};
}

/* ---- linear ---- */

/* A linear layer y = x W^T + b, its gradients, its tangents and the tangents of its gradients. What a pass
 * does not have is NULL: a bias, gradients of the tensors, tangents of the tensors (which count as 0). */
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

/* y [rows, out] = residual + x W^T + b, and with `relu` 0 for negative elements; or ty = tresidual + the
 * tangent, and 0 where relu [rows, out], the y of the forward pass, is 0. residual and relu may be NULL. */
void linear_forward(const struct linear *linear, scalar *y, struct dual x, const scalar *residual,
    const scalar *relu, int64_t rows);

/* dweight and dbias, or tdweight and tdbias, from dy [rows, out] and x [rows, in]. Overwrites both, or adds
 * to them if `add`. Does nothing if the first is NULL. */
void linear_weight_gradient(
    const struct linear *linear, struct dual dy, struct dual x, int64_t rows, bool add);

/* dx, or its tangent, [rows, in] from dy [rows, out]. Overwrites dx, or adds to it if `add`; then sets it to
 * 0 where gate [rows, in] is 0. gate may be NULL. dx must not be dy. */
void linear_input_gradient(
    const struct linear *linear, scalar *dx, struct dual dy, const scalar *gate, int64_t rows, bool add);

/* ---- norm ---- */

/*
 * The norms: X(KIND, word, centred, shift). `word` is the one of the sweep file; `centred`: it takes off the
 * mean of each row; `shift`: it has a bias as well as a gain. A new norm is one row here, and what tells it
 * apart in struct norm_rows and the kernels that read it. With NO_NORM rows pass as they are, and there is no
 * gain.
 */
#define NORMS(X)                                                                                             \
    X(LAYERNORM, layernorm, true, true)                                                                      \
    X(RMSNORM, rmsnorm, false, false)                                                                        \
    X(NO_NORM, none, false, false)

enum norm_kind {
#define X(KIND, ...) KIND,
    NORMS(X)
#undef X
        NORM_KIND_COUNT,
};

struct norm_row {
    const char *word;
    bool centred, shift;
};

extern const struct norm_row norm_table[NORM_KIND_COUNT];
extern const char *const norm_words[NORM_KIND_COUNT + 1]; /* ends with NULL */

/* One norm: its tensors [width], their gradients, its statistics [rows], and the tangents of the tensors and
 * of their gradients. What a pass does not have is NULL: a bias, gradients, tangents (which count as 0). */
struct norm {
    const struct team *team;
    enum norm_kind kind;
    const scalar *gain, *bias;
    scalar *dgain, *dbias;
    scalar *mean, *scale; /* of each row: mean, or 0 for rmsnorm; 1 / sqrt(variance + epsilon) */
    double epsilon;
    bool wide; /* forward: rows whose variance overflows are computed in double, else they are NaN */
    int64_t width;
    const scalar *tgain, *tbias;
    scalar *tdgain, *tdbias;
};

/* out = residual + norm(in), with mean and scale; or tout = tresidual + the tangent. residual may be NULL. */
void norm_forward(const struct norm *norm, scalar *out, struct dual in, const scalar *residual, int64_t rows);

/*
 * din, dgain and dbias, or their tangents, from dout and the forward pass's in. Overwrites din, which may
 * then be dout, or dout's tangent of a tangent, or adds to it if `add`; overwrites dgain and dbias, if they
 * are not NULL.
 */
void norm_gradient(
    const struct norm *norm, scalar *din, struct dual dout, struct dual in, int64_t rows, bool add);

/* ---- activation ---- */

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

/* out = a b by elements, or the tangent; out may be any of the planes. */
void multiply(const struct team *team, scalar *out, struct dual a, struct dual b, int64_t count);

/* ---- relative ---- */

/*
 * A bias of each head on each score, by distance: that of the query's position from the key's (Raffel et al.
 * 2020). It is learned as a table [32, H] of buckets of distances; attention reads it spread out by distance.
 */

/* The buckets, and the distance from which on all share the last one. */
enum { RELATIVE_BUCKETS = 32, RELATIVE_REACH = 128 };

/* The bias by distance, [H, stride]: entry [h][query - key + reach]. What a pass does not have is NULL. */
struct relative {
    int64_t reach, stride; /* context - 1; relative_stride(context) */
    const scalar *bias, *tbias; /* tbias: the tangent; NULL counts as 0 */
    scalar *dbias, *tdbias; /* attention adds the gradient, or its tangent */
};

/* Scalars of a row by distance: 2 context - 1, and what vectors may read behind them, which is 0. */
int64_t relative_stride(int64_t context);

/*
 * The bucket of a distance, query - key. One-sided: keys behind the query count as distance 0; distances
 * below 16 have buckets of their own, the other 16 buckets are equally wide in the logarithm of the distance
 * up to 128. Two-sided: 16 buckets, half of them exact, for either sign; distance 0 counts as positive.
 */
int64_t relative_bucket(int64_t distance, bool two_sided);

/* bias [H, stride], overwritten, from table [32, H]. Linear: also for tangents. */
void relative_spread(scalar *bias, const scalar *table, int64_t heads, int64_t context, bool two_sided);

/* Its adjoint: dtable [32, H], overwritten, from dbias [H, stride]; sums in double. */
void relative_gather(scalar *dtable, const scalar *dbias, int64_t heads, int64_t context, bool two_sided);

/* ---- rotary ---- */

/*
 * Rotary positions (Su et al. 2021), in halves: element i of the first half of a head and element i of its
 * second half turn together by the angle position * base^(-2i/D). The product of a turned query and a turned
 * key depends on the distance of their positions alone.
 */
struct rotary {
    const struct team *team;
    const scalar *cosine, *sine; /* [context, D / 2] */
    int64_t depth; /* D, even */
};

/*
 * How a network that was trained on short texts reads longer ones. With n(f) = context f / (2 pi), the turns
 * of frequency f in the context of that training: frequencies with n < low are divided by `factor`, those
 * with n > high are kept, with a ramp in n between them (Llama 3.1). low = high = 0: all are divided.
 */
struct rotary_scaling {
    double factor; /* 0: no scaling */
    double low, high, context;
};

/* The angles of `base`, scaled, into cosine and sine [context, depth / 2]; in double, rounded once. */
void rotary_fill(scalar *cosine, scalar *sine, int64_t context, int64_t depth, double base,
    const struct rotary_scaling *scaling);

/*
 * Turns `heads` heads of D, side by side at the beginning of each row of x, rows `stride` apart, in place, by
 * the angles of the row's position in its sequence; `back`: by the opposite angles, which is also the
 * gradient. Linear in x: tangents pass through the same function.
 */
void rotary_turn(const struct rotary *rotary, scalar *x, int64_t stride, int64_t heads, int64_t sequences,
    const int64_t *start, bool back);

/* ---- embedding ---- */

/* The sum of the embeddings of token and position, and their gradients; forward only, also of a type. */
struct embedding {
    const struct team *team;
    const scalar *token; /* [V, C] */
    const scalar *position; /* [T, C], learned or fixed; NULL: none */
    const scalar *type; /* [C] of every token; NULL: none */
    scalar *dtoken, *dposition; /* dposition NULL: no positions, or fixed ones */
    int64_t vocabulary, context, width; /* V, T, C */
    bool add; /* add to dtoken, where a tied output layer or another embedding has written its gradient */
};

/* out [rows, C] of the tokens. */
void embedding_forward(const struct embedding *embedding, scalar *out, const struct packed *packed);

/* dtoken and dposition from dout [rows, C]. Overwrites both, but adds to dtoken if `add`. Does nothing if
 * dtoken is NULL. Linear in its input: tangents pass through the same two functions. */
void embedding_gradient(const struct embedding *embedding, const scalar *dout, const struct packed *packed);

/* Fills table [context, width] with the positions of Vaswani et al. 2017: sin(t / 10000^(2i / width)) at
 * element 2i of row t, the cosine at element 2i + 1. Computed in double and rounded once. */
void sinusoidal_fill(scalar *table, int64_t context, int64_t width);

/* ---- attention ---- */

/*
 * Multi-head attention over packed sequences: sequence i of the queries attends to sequence i of the keys,
 * which are the same sequences in self-attention and others in cross-attention. Scores are scale q.k, plus
 * the bias of their distance; see enum attention_mask. Attention weights are not kept: the gradient computes
 * them again, which costs little and saves B H T^2 scalars per layer.
 */
struct heads {
    const struct team *team; /* scratch: heads_scratch() */
    /* H, K, D. K divides H: head h reads the keys and values of head h / (H / K) (Ainslie et al. 2023) */
    int64_t heads, kv_heads, depth;
    scalar scale; /* > 0 */
    enum attention_mask mask;
    bool hard; /* see struct head; only in the forward pass */
    int64_t sequences;
    const int64_t *start, *key_start; /* [sequences + 1] of the queries, of the keys and values */
    /* [H, rows of queries] statistics of the softmax: the forward pass sets them for the gradient */
    scalar *most, *inverse;
    struct relative relative; /* its bias is NULL where scores do not depend on the distance */
};

/* Queries [rows, H D] and keys, values [key rows, K D], heads side by side, or their gradients; the strides
 * are those from row to row. */
struct projected {
    scalar *q, *k, *v;
    int64_t q_stride, kv_stride;
};

/* Self-attention's, side by side in qkv [rows, width + 2 key_width], with width = H D and key_width = K D. */
static inline struct projected projected_together(scalar *qkv, int64_t width, int64_t key_width)
{
    int64_t stride = width + 2 * key_width;

    return (struct projected){qkv, qkv + width, qkv + width + key_width, stride, stride};
}

/* 1 / sqrt(D) */
scalar heads_scale(int64_t depth);

/* Scalars of scratch per thread for attention, or its tangents, of up to `context` queries and keys. */
int64_t heads_scratch(int64_t heads, int64_t depth, int64_t context, bool relative, bool tangents);

/* mixed [rows, H D] from the projected, which it does not write; or its tangent, from tin, that of the
 * projected, with the strides of `in`, and from relative->tbias. tin NULL: no tangent. */
void heads_forward(
    const struct heads *heads, scalar *mixed, const struct projected *in, const struct projected *tin);

/* What each query of each head attends to: all of attended [H, rows]. If it counts, sets most and inverse. */
void heads_attended(const struct heads *heads, const struct attended *attended, const struct projected *in);

/* Overwrites din, with the strides of `in`, by the gradients from dmixed [rows, H D], or by their tangents;
 * adds to relative->dbias, or to relative->tdbias. */
void heads_gradient(const struct heads *heads, const struct projected *din, struct dual dmixed,
    const struct projected *in, const struct projected *tin);

/* ---- distance ---- */

/*
 * Multi-head attention of packed sequences to themselves with keys of distances (Dai et al. 2019, Yang et al.
 * 2019). The score of query i and key j is
 *     scale ((q_i + content bias) . k_j + (q_i + distance bias) . r(i - j)),
 * where r(d) is a linear layer's output for the sinusoid of the distance d. Each query sees every key of its
 * sequence. Forward only.
 */
struct distances {
    const struct team *team; /* scratch: distances_scratch() */
    int64_t heads, kv_heads, depth; /* as in struct heads */
    scalar scale; /* > 0 */
    bool hard; /* see struct head */
    int64_t sequences;
    const int64_t *start; /* [sequences + 1] */
    int64_t reach; /* the largest distance, context - 1 */
    /* [2 reach + 1, H D]: row c is r(reach - c). Only distances within the longest sequence are read. */
    const scalar *keys;
    struct projected in; /* of each row; distances_bias adds their content bias to the queries */
    scalar *queries; /* [rows, H D] the queries with their distance bias, which distances_bias sets */
};

/*
 * Fills table [2 context - 1, width], width even, with the sinusoids of distances: row c is that of the
 * distance d = context - 1 - c: sin(d w_k) for all k < width / 2, then cos(d w_k), where w_k = 10000^(-2k /
 * width). Computed in double and rounded once.
 */
void distances_fill(scalar *table, int64_t context, int64_t width);

/* Scalars of scratch per thread for sequences of up to `context` rows. */
int64_t distances_scratch(int64_t context);

/* Adds the biases [H D] to queries without bias, which in.q [rows, H D] holds. */
void distances_bias(
    const struct distances *distances, const scalar *content_bias, const scalar *distance_bias);

/* mixed [rows, H D] */
void distances_forward(const struct distances *distances, scalar *mixed);

/* count [H, rows], as heads_attended gives it; nothing else is known of keys of distances. */
void distances_attended(const struct distances *distances, int32_t *count);

/* ---- rowwise ---- */

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
    int32_t *predicted; /* [rows] the words of the largest logits, by cross_entropy_rows; NULL: not wanted */
    const scalar *weight; /* [rows] in the loss whose gradient is wanted; NULL: no gradient */
    double z_loss; /* times log_sum^2, which is part of that loss */
    double *log_sum; /* [rows] the logarithms of the sums of exp(logits) */
    int64_t rows, vocabulary;
};

/*
 * loss[r] = -log softmax(logits[r])[target[r]]; sets log_sum and predicted: of equal logits the first, and
 * NaN counts as the smallest. With weights, replaces the logits by the gradient of the sum of weight[r] *
 * (loss[r] + z_loss * log_sum[r]^2).
 */
void cross_entropy_rows(const struct entropy *entropy, double *loss, scalar *logits);

/*
 * After cross_entropy_rows with weights, which has left the gradient in dlogits: replaces the tangents of the
 * logits by those of the gradient; tloss[r] = the tangent of weight[r] * (loss[r] + z_loss * log_sum[r]^2).
 */
void cross_entropy_tangent_rows(
    const struct entropy *entropy, double *tloss, scalar *tlogits, const scalar *dlogits);

#endif
