/* The activations of the feed-forward layer. */
#include "model/kernels_level.h"

/* Phi(x); through erfc, which keeps its relative precision where Phi is small. */
static inline scalar normal_cdf(scalar x)
{
    return scalar_erfc(x * (scalar)-0.7071067811865476) / 2;
}

void KERNEL(relu)(scalar *x, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        x[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays */
}

void KERNEL(relu_gradient)(scalar *dx, const scalar *y, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        dx[i] = y[i] == 0 ? 0 : dx[i];
}

/* x * Phi(x), with Phi the normal distribution function. */
void KERNEL(gelu)(scalar *y, const scalar *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] * normal_cdf(x[i]);
}

void KERNEL(gelu_gradient)(scalar *dx, const scalar *x, int64_t count)
{
    const scalar inverse_root_2pi = (scalar)0.3989422804014327;

    for (int64_t i = 0; i < count; i++)
        dx[i] *= normal_cdf(x[i]) + x[i] * inverse_root_2pi * exponential(x[i] * x[i] / -2);
}
