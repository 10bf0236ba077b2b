#ifndef NORMSWEEP_MODEL_KERNELS_KERNELS_H
#define NORMSWEEP_MODEL_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/random.h"
#include "model/core/scalar.h"

/* ---- kernels ---- */

/* The numbers of one step of adamw or adam. */
struct adam_pass {
    double rate, weight_decay; /* eta, lambda */
    double beta1, beta2, epsilon;
    double correction1, correction2; /* 1 - beta1^t, 1 - beta2^t */
    double gradient_scale; /* of clipping */
    bool coupled; /* adam: the decay is added to the gradient */
    bool factor; /* adamw: theta *= 1 - eta * lambda, rounded, then the step */
    bool cautious; /* adamw without `factor`: only weights with u theta >= 0 decay */
};

/* The numbers of one step of lion. */
struct lion_pass {
    double rate, weight_decay, beta1, beta2;
    double gradient_scale; /* of clipping */
    bool cautious; /* only weights with u theta >= 0 decay */
};

/* The numbers of one step of sgd. */
struct sgd_pass {
    double rate, weight_decay, momentum;
    double gradient_scale; /* of clipping */
};

/* The numbers of one step along an update that is computed before. */
struct descent {
    double rate, weight_decay;
    double scale; /* of the update */
    bool cautious; /* only weights with u theta >= 0 decay */
};

/* What a step theta' = theta - D - eta u did to |theta|^2, where D = eta lambda theta for weights that decay:
 * from these sums over a range of weights follows all of |theta'|^2 - |theta|^2 but for rounding. */
struct moved {
    double decaying; /* theta^2 of the weights that decay */
    double square, product; /* |u|^2; u.(theta - D) */
};

/* Neighbours whose draws a kernel makes together, see model/kernels/rounding.c. */
enum { ROUNDING_GROUP = 128 };

/* |b|^2 and a.b of two vectors a and b. */
struct sums {
    double square, product;
};

/*
 * c [m, n] = a b, plus what c holds if `add`, plus residual, plus bias in every row, then relu, then 0 where
 * gate is 0. a is [m, k], or [k, m] if transposed, with `a_stride` scalars from row to row; b likewise with
 * [k, n] and [n, k]. residual and gate are laid out like c. residual, bias and gate may be NULL. m, n, k > 0.
 * If `symmetric`, c is symmetric by what a and b are, m = n, nothing is added to c and nothing follows: the
 * elements above the diagonal are not computed.
 */
struct product {
    int64_t m, n, k;
    const scalar *a, *b;
    int64_t a_stride, b_stride;
    bool a_transposed, b_transposed;
    scalar *c;
    int64_t c_stride;
    const scalar *residual, *bias, *gate;
    bool add, relu;
    bool symmetric;
};

/* Which keys a query sees: those up to its own position; all, but the scores of later positions multiplied by
 * 0 (Merrill et al. 2021, published code); or all. */
enum attention_mask { MASK_CAUSAL, MASK_MULTIPLICATIVE, MASK_NONE };

/* One head of one sequence, or of two: queries may come from another sequence than keys and values. Scores
 * are scale q.k, plus a bias by distance. Masks compare positions; the causal mask needs Tq = Tk. */
struct head {
    const scalar *q; /* [Tq, D] */
    const scalar *k, *v; /* [Tk, D] */
    int64_t q_stride, kv_stride; /* from row to row */
    int64_t queries, keys, depth; /* Tq, Tk, D */
    scalar scale; /* > 0 */
    /* bias[i - j] of query i and key j; NULL: none. Vectors read ATTENTION_LANES - 1 finite scalars more. */
    const scalar *bias;
    enum attention_mask mask;
    /* Replaces the softmax by its limit as scores grow: the mean over the keys whose score is within HARD_TIE
     * of the largest, relative to it. The gradient ignores this field. */
    bool hard;
    /* [Tq] of each query: the largest q.k, or, with a bias, the largest score; 1 / sum of exp(score - largest
     * score) */
    scalar *most, *inverse;
};

/*
 * What each query of a head attends to, [Tq]; either `count` is wanted or all others are, and what is not
 * wanted is NULL. With e = exp(score - largest score that has a weight), 1 / sum of e is `inverse` of struct
 * head, and the entropy of the weights is ln(sum) - product / sum.
 */
struct attended {
    int32_t *count; /* of attention weights above ATTENDED, -1 where they are NaN */
    scalar *largest; /* score of a key that no mask hides; not NaN, whatever the scores are */
    scalar *sum, *product; /* of e, and of e ln e, over all keys that have a weight */
    scalar *first; /* e of the first key */
};

/* The gradient of a head's output, and where those of q, k and v go, with the strides of these. In a tangent
 * of the gradient: also the tangent of the first, and where the tangents of the others go. */
struct head_gradient {
    const scalar *dmixed, *tdmixed; /* [Tq, D] */
    int64_t mixed_stride;
    scalar *dq, *dk, *dv; /* overwritten */
    bool add; /* adds to dk and dv instead, which other heads share */
    scalar *dbias; /* added to, laid out like bias, and as many scalars behind it; NULL: not wanted */
};

/* Rows of a norm, its tensors, and the tangents of both; tgain and tbias are 0 if NULL. The forward pass sets
 * mean, to 0 unless `centred`, and scale = 1 / sqrt(variance + epsilon) for all that follows. */
struct norm_rows {
    bool centred; /* takes the mean of the row off, as layernorm; else, as rmsnorm, the variance is about 0 */
    const scalar *in, *tin; /* [rows, width] */
    const scalar *gain, *bias, *tgain, *tbias; /* [width]; bias: NULL for none */
    scalar epsilon;
    scalar *mean, *scale; /* [rows] */
    int64_t rows, width;
};

/* The gradient of a norm's output, and where those of its rows and tensors go. In a tangent of the gradient:
 * also the tangent of the first, and where the tangents of the others go. */
struct norm_gradient {
    const scalar *dout, *tdout; /* [rows, width] */
    scalar *din; /* [rows, width] overwritten; may be dout or, for tangents, tdout */
    bool add; /* adds to din instead, which is a plane of its own then */
    scalar *dgain, *dbias; /* [width] overwritten; dbias: NULL for none */
};

/* The largest tile columns, lanes and blocks of queries of all levels, for the scratch of attention. */
enum { ATTENTION_COLUMNS = 32, ATTENTION_LANES = 16, ATTENTION_BLOCK = 64 };

/* A query attends to a position if its attention weight is above this (Merrill et al. 2021). */
#define ATTENDED 1e-5

/* Under hard attention, scores within this share of the largest score tie with it. */
#define HARD_TIE 1e-6

/* Scalars of scratch for a product: its packed operands fit the second-level cache. */
enum { PRODUCT_SCRATCH = (736 << 10) / (int)sizeof(scalar) };

/* What matrix products read: factors as they are, or rounded to bfloat16. Sums are scalars. */
enum precision { PRECISION_FLOAT, PRECISION_BFLOAT16, PRECISIONS };

/* The inner loops, built once per vector level; the program picks the best level of its processor. NaN and
 * infinities follow the rules of arithmetic. Arrays must not overlap unless said otherwise. */
struct kernels {
    const char *level;
    enum precision precision; /* of `product`, and of the products within `attention` and the next ones */
    bool own_product; /* `product` is used, not the BLAS library's: it is faster, or has to round */

    /* scratch [PRODUCT_SCRATCH] */
    void (*product)(const struct product *product, scalar *scratch);

    /* c[i][j] = c[j][i] for all i < j < n; rows are `stride` scalars apart. */
    void (*mirror)(scalar *c, int64_t n, int64_t stride);

    /* out = a + b by elements; NULL counts as 0; out may be a or b. */
    void (*add)(scalar *out, const scalar *a, const scalar *b, int64_t count);

    /* sums[c] = sum over r of in[r * stride + c], added to sums if `add` */
    void (*column_sums)(
        scalar *sums, const scalar *in, int64_t stride, int64_t rows, int64_t columns, bool add);

    /* A row: out = residual + gain * (in - mean) / sqrt(variance + epsilon) + bias; residual may be NULL. */
    void (*norm)(const struct norm_rows *norm, scalar *out, const scalar *residual);
    void (*norm_gradient)(const struct norm_rows *norm, const struct norm_gradient *gradient);
    /* The tangent of out: tout = tresidual + that of the norm. tresidual may be NULL. */
    void (*norm_tangent)(const struct norm_rows *norm, scalar *tout, const scalar *tresidual);
    void (*norm_gradient_tangent)(const struct norm_rows *norm, const struct norm_gradient *gradient);

    void (*relu)(scalar *x, int64_t count);
    /* dx[i] = 0 where the output y[i] is 0 */
    void (*relu_gradient)(scalar *dx, const scalar *y, int64_t count);
    /* Activations: y from x; replaces x by the slope at x; if not NULL, curvature is the second derivative.
     * relu_slope: y = max(x, 0), with slope 0 at 0 */
    void (*relu_slope)(scalar *y, scalar *x, scalar *curvature, int64_t count);
    /* y = x Phi(x), Phi the exact normal distribution function (erf) */
    void (*gelu)(scalar *y, scalar *x, scalar *curvature, int64_t count);
    /* y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, the approximation in GPT-2 */
    void (*gelu_tanh)(scalar *y, scalar *x, scalar *curvature, int64_t count);
    /* y = x / (1 + exp(-x)) */
    void (*silu)(scalar *y, scalar *x, scalar *curvature, int64_t count);
    /* out = a b by elements; out may be a or b */
    void (*multiply)(scalar *out, const scalar *a, const scalar *b, int64_t count);
    /* out = a + factor b; a may be NULL; out may be a or b */
    void (*add_scaled)(scalar *out, const scalar *a, const scalar *b, scalar factor, int64_t count);
    /* The tangent of multiply: tout = ta b + a tb; tout may be any of the four. */
    void (*multiply_tangent)(
        scalar *tout, const scalar *a, const scalar *ta, const scalar *b, const scalar *tb, int64_t count);

    /*
     * Turns element i and element half + i of each head, for i < half, by the angle whose cosine and sine are
     * in [rows, half]; by the opposite angle if `back`. Heads of 2 half lie side by side at the beginning of
     * each row of x, rows `stride` apart.
     */
    void (*rotary)(scalar *x, int64_t stride, const scalar *cosine, const scalar *sine, int64_t rows,
        int64_t heads, int64_t half, bool back);

    /* mixed [Tq, D] = softmax(scale q k^T, masked) v, rows `mixed_stride` apart; sets head->most and
     * inverse. scratch [attention_scratch(max(Tq, Tk), D, false)] */
    void (*attention)(const struct head *head, scalar *mixed, int64_t mixed_stride, scalar *scratch);
    /* Does not read v, and needs as much scratch as `attention`. With `count`, sets most and inverse as
     * `attention` does; without, head->hard must not be set. */
    void (*attended)(const struct head *head, const struct attended *of, scalar *scratch);
    /* Replaces the scores of one query, a row, by its attention weights: the softmax of scale times the
     * scores or, if `hard`, its limit, see struct head. All weights are NaN if a score is. */
    void (*attention_weights)(scalar *scores, int64_t count, scalar scale, bool hard);
    /* The gradients of q, k, v and bias, from dmixed and what `attention` has set. */
    void (*attention_gradient)(
        const struct head *head, const struct head_gradient *gradient, scalar *scratch);

    /* The tangent of mixed, from tangents of q, k, v and bias, with the strides of `head`; that of bias may
     * be NULL, which counts as 0. Like the gradient it needs what `attention` has set. scratch
     * [attention_scratch(max(Tq, Tk), D, true)], also below */
    void (*attention_tangent)(const struct head *head, const struct head *tangent, scalar *tmixed,
        int64_t mixed_stride, scalar *scratch);
    /* The tangents of what attention_gradient computes. */
    void (*attention_gradient_tangent)(const struct head *head, const struct head *tangent,
        const struct head_gradient *gradient, scalar *scratch);

    /* loss = -log softmax(logits)[target]; log_sum = the logarithm of the sum of exp(logits) */
    double (*cross_entropy)(const scalar *logits, int64_t count, int64_t target, double *log_sum);
    /* the same; replaces logits by the gradient of weight * (loss + z_loss * log_sum^2) */
    double (*cross_entropy_gradient)(
        scalar *logits, int64_t count, int64_t target, scalar weight, double z_loss, double *log_sum);
    /* From what cross_entropy_gradient has left in dlogits, and its log_sum: replaces tangents of the logits
     * by those of their gradient; returns the tangent of weight * (loss + z_loss * log_sum^2). */
    double (*cross_entropy_tangent)(scalar *tlogits, const scalar *dlogits, int64_t count, int64_t target,
        scalar weight, double z_loss, double log_sum);
    /* The index of the largest of x [count > 0]: the first of equal ones; NaN counts as the smallest. */
    int64_t (*argmax)(const scalar *x, int64_t count);

    /* Sums in double. */
    double (*dot)(const scalar *a, const scalar *b, int64_t count);
    /* |b|^2 and a.b in one pass */
    struct sums (*sums)(const scalar *a, const scalar *b, int64_t count);
    /* the same for a = kept and b = now; then copies now to kept */
    struct sums (*keep)(scalar *kept, const scalar *now, int64_t count);
    /* |b - a|^2 and a.(b - a), and |b|^2; differences of float scalars that are close are exact in double */
    struct sums (*difference)(const scalar *a, const scalar *b, int64_t count, double *b_square);

    /*
     * Rounds to bfloat16: to the nearest, ties to even; or to one of the two neighbours, up with a
     * probability of 2^-16 times the first 16 bits below those that stay. NaN stays NaN; what is nearer to
     * 2^128 than to the largest bfloat16, or is rounded up from there, becomes infinite; results below 2^-126
     * are multiples of 2^-133. The draw of x[i] is a function of the seed and first + i; first is a multiple
     * of ROUNDING_GROUP.
     */
    void (*round_bfloat16)(scalar *x, int64_t count);
    void (*round_bfloat16_by_chance)(scalar *x, int64_t count, uint64_t seed, int64_t first);

    /* One step of adamw or adam over a range; weights and moments in place. moved, here and below: of the
     * range, or NULL. The decay of adam counts as a part of u. */
    void (*adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
        const scalar *gradient, int64_t count, struct moved *moved);
    /* |u|^2 and theta.u of the update u, without weight decay in this step; changes nothing */
    struct sums (*adam_sums)(const struct adam_pass *pass, const scalar *weights, const scalar *first,
        const scalar *second, const scalar *gradient, int64_t count);

    /* One step of lion: u = sign(beta1 m + (1 - beta1) g), NaN where that mean is not finite, m = beta2 m +
     * (1 - beta2) g. lion_sums: as adam_sums. */
    void (*lion)(const struct lion_pass *pass, scalar *weights, scalar *first, const scalar *gradient,
        int64_t count, struct moved *moved);
    struct sums (*lion_sums)(const struct lion_pass *pass, const scalar *weights, const scalar *first,
        const scalar *gradient, int64_t count);

    /* out = (1 - momentum) g + momentum m, g = scale gradient and m = momentum old + (1 - momentum) g; kept
     * receives m if it is not NULL, and may be old itself. Returns |out|^2. */
    double (*look_ahead)(scalar *out, scalar *kept, const scalar *old, const scalar *gradient, int64_t count,
        double scale, double momentum);

    /* One step of sgd: b = momentum * b + g + lambda * theta, theta -= eta * b. sgd_sums: as adam_sums. */
    void (*sgd)(const struct sgd_pass *pass, scalar *weights, scalar *buffer, const scalar *gradient,
        int64_t count, struct moved *moved);
    struct sums (*sgd_sums)(const struct sgd_pass *pass, const scalar *weights, const scalar *buffer,
        const scalar *gradient, int64_t count);

    /* theta -= rate * (decay * theta + scale * update), in double and rounded once */
    void (*descend)(const struct descent *descent, scalar *weights, const scalar *update, int64_t count,
        struct moved *moved);

    /* With s = (scale * x[i])^2 + 1e-30: sums[i] += share * s; returns the sum of s. */
    double (*add_squares)(scalar *sums, const scalar *x, int64_t count, double scale, double share);
    /* out[i] = factor * x[i] / sqrt(square[i]) */
    void (*over_root)(scalar *out, const scalar *x, const scalar *square, int64_t count, double factor);

    /* The draws first .. first+count-1 of a seed and a purpose, bit for bit as by the functions of random.h
     * at every level: random_bits; bound * (2 * random_uniform - 1); deviation * random_normal. */
    void (*draw_bits)(
        uint64_t *bits, int64_t count, uint64_t seed, enum random_purpose purpose, uint64_t first);
    void (*draw_uniform)(
        scalar *out, int64_t count, double bound, uint64_t seed, enum random_purpose purpose, uint64_t first);
    void (*draw_normal)(scalar *out, int64_t count, double deviation, uint64_t seed,
        enum random_purpose purpose, uint64_t first);
};

/* ---- levels ---- */

/* The kernels of the best level that this processor runs; the environment variable NORMSWEEP_VECTOR
 * (baseline, avx2, avx512, avx512_bf16, amx) asks for a lower level. */
const struct kernels *kernels_best(enum precision precision);

/* The name of that level. Without instructions for a precision, a level computes as the one below. */
const char *kernels_level_in_use(void);

/* What NORMSWEEP_VECTOR asks for, if this processor or this build does not have it; else NULL. */
const char *kernels_level_missing(void);

/* The name of level `place`, 0 for the lowest, NULL past the last; *runs: whether this processor runs it. */
const char *kernels_level(int place, bool *runs);

/* Scalars of scratch that a head of up to these sizes needs at any level, without or with tangents. */
int64_t attention_scratch(int64_t length, int64_t depth, bool tangents);

/* ---- team ---- */

/* The threads that compute one run together, the kernels that they use, and scratch for a share of each. */
struct team {
    const struct kernels *kernels;
    int threads;
    int64_t scratch_size; /* scalars per thread */
    scalar *scratch; /* [threads][scratch_size] */
    double least; /* nanoseconds of work that are worth a thread; 0: any, as tests want */
};

/* precision: of matrix products. scratch_size: scalars that the largest share needs; at least PRODUCT_SCRATCH
 * for product_run. */
void team_layout(
    struct team *team, enum precision precision, int64_t threads, int64_t scratch_size, struct arena *arena);

/*
 * Items to share out, in whole multiples of `multiple`. Each takes one thread about so many nanoseconds, on
 * the processors of today and to an order of magnitude: the number of shares must not depend on the machine.
 */
struct items {
    int64_t count, multiple;
    double nanoseconds;
};

/* A `multiple` of elements with which shares begin at whole cache lines. */
enum { LINE_ELEMENTS = 64 };

/* What an element takes that a simple loop passes, and a multiplication and addition of a product. */
#define ELEMENT_NANOSECONDS 0.25
#define PRODUCT_NANOSECONDS 0.01

/* A share of some work: items [begin, end), with that share's scratch. */
typedef void team_share(const void *context, scalar *scratch, int64_t begin, int64_t end);

/* The number of shares that team_run makes: at most one per thread, and fewer of little work. Share i uses
 * scratch i, whichever thread does it. */
int64_t team_shares(const struct team *team, struct items items);

/* Splits the items into shares, calls `share` for each, and returns when all are done. How they are split
 * depends only on the number of threads and on the items. */
void team_run(const struct team *team, struct items items, team_share *share, const void *context);

/* ---- product ---- */

/*
 * Computes a product (see struct product in kernels.h) by the whole team, with the project's own kernel where
 * that is faster than the BLAS library or has to round, else with the library. Not for symmetric products. A
 * team has scratch of PRODUCT_SCRATCH or more.
 */
void product_run(const struct team *team, const struct product *product);

/* The same by one thread alone, within its share of other work; scratch [PRODUCT_SCRATCH]. Of a symmetric
 * product the elements above the diagonal are copies of those below. */
void product_alone(const struct kernels *kernels, const struct product *product, scalar *scratch);

#endif
