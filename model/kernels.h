#ifndef NORMSWEEP_MODEL_KERNELS_H
#define NORMSWEEP_MODEL_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/scalar.h"

/* How one adam-like pass over a range of weights goes. */
struct adam_pass {
    double rate, weight_decay; /* eta, lambda */
    double beta1, beta2, epsilon;
    double correction1, correction2; /* 1 - beta1^t, 1 - beta2^t */
    double gradient_scale; /* of clipping */
    bool coupled; /* adam: the decay joins the gradient */
    bool factor; /* adamw: theta *= 1 - eta * lambda, rounded, then the step */
};

/*
 * The loops that are no matrix products, built once per vector level from kernels.c; the program picks the
 * level of the processor that it runs on. NaN and infinities pass through as arithmetic has them. Arrays do
 * not overlap unless said.
 */
struct kernels {
    const char *level;

    /* out[r][c] = (residual ? residual[r][c] : 0) + (bias ? bias[c] : 0) */
    void (*spread)(scalar *out, const scalar *residual, const scalar *bias, int64_t rows, int64_t columns);

    /* sums[c] (+)= sum over r of in[r][c], added to if `add` */
    void (*column_sums)(scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add);

    /*
     * out = residual + gain * (in - mean) / sqrt(variance + 1e-5) + bias, by rows; residual and bias may be
     * NULL. Keeps mean[rows] and scale[rows] = 1/sqrt(variance + 1e-5) for the gradient.
     */
    void (*layernorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
        const scalar *bias, scalar *mean, scalar *scale, int64_t rows, int64_t width);

    /*
     * From dout: din (added to it if `add`; din may be dout if not), and dgain, dbias [width] overwritten;
     * dbias may be NULL.
     */
    void (*layernorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
        const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
        int64_t width, bool add);

    void (*relu)(scalar *x, int64_t count);
    /* dx[i] = 0 where the output y[i] is 0 */
    void (*relu_gradient)(scalar *dx, const scalar *y, int64_t count);
    /* y = x Phi(x), exactly (erf); dx *= its derivative at x */
    void (*gelu)(scalar *y, const scalar *x, int64_t count);
    void (*gelu_gradient)(scalar *dx, const scalar *x, int64_t count);

    /* x[0 .. visible-1] = softmax(scale * x), the rest of the row's `columns` 0 */
    void (*softmax)(scalar *x, scalar scale, int64_t visible, int64_t columns);
    /* dx[j] = scale * p[j] * (dx[j] - sum_k p[k] dx[k]) over `visible`, the rest of `columns` 0 */
    void (*softmax_gradient)(scalar *dx, const scalar *p, scalar scale, int64_t visible, int64_t columns);

    /* -log softmax(logits)[target]; logits untouched */
    double (*cross_entropy)(const scalar *logits, int64_t count, int64_t target);
    /* the same, and logits become the gradient of weight * loss */
    double (*cross_entropy_gradient)(scalar *logits, int64_t count, int64_t target, scalar weight);

    /* Sums in double. */
    double (*dot)(const scalar *a, const scalar *b, int64_t count);
    /* |b - a|^2 and a.(b - a), each difference exact in double where scalars are float and close */
    void (*difference)(const scalar *a, const scalar *b, int64_t count, double *square, double *product);

    /* One step of adamw or adam over a range; weights and moments in place. */
    void (*adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
        const scalar *gradient, int64_t count);
    /* The update u alone, without weight decay in this step; nothing but `direction` changes. */
    void (*adam_direction)(const struct adam_pass *pass, scalar *direction, const scalar *first,
        const scalar *second, const scalar *gradient, int64_t count);
};

/*
 * The best level that this processor runs; the environment variable NORMSWEEP_VECTOR (baseline, avx2, avx512)
 * asks for a lower one.
 */
const struct kernels *kernels_best(void);

#endif
