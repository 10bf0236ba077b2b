/* The activations of the feed-forward layer. */
#include "model/kernels/level.h"

#ifdef SCALAR_DOUBLE
#define NORMAL_FAR 40 /* Phi(-40) is 0 */

/* Phi(-a) and exp(-a^2 / 2) for 0 <= a <= NORMAL_FAR; erfc stays precise where Phi is small. */
static inline double normal_tail(double a, double *density)
{
    *density = exp(a * a / -2);
    return erfc(a * 0.7071067811865476) / 2;
}
#else
#define NORMAL_FAR ((scalar)13.26) /* the exponential is 0 there */

/*
 * Phi(-a) is the exponential times q P(q), q = 1 / (1 + 0.34 a), with P of degree 8. The relative error is
 * 5e-8 down to -13, where Phi reaches the least normal number; the result is 0 soon after. The square is
 * taken in two parts, the first exact: otherwise its rounding error would be multiplied by 80.
 */
static inline float normal_tail(float a, float *density)
{
    float q = 1 / (1 + 0.34f * a);
    float q2 = q * q, q4 = q2 * q2;
    uint32_t bits;
    float head;

    memcpy(&bits, &a, sizeof(bits));
    bits &= 0xfffff000; /* 12 bits: their square fits 24 */
    memcpy(&head, &bits, sizeof(head));
    float low = 0x1.15bf98p-3f + 0x1.16cd26p-3f * q + (0x1.d72f0ap-4f + 0x1.db4776p-4f * q) * q2;
    float high = 0x1.a34ad8p-3f * q - 0x1.7c116ap-5f + (0x1.2018acp-3f * q - 0x1.1a12c6p-2f) * q2;
    float p = low + (high - 0x1.b00cd8p-6f * q4) * q4;
    *density = exponential_less(head * head * -0.5f, (a - head) * (a + head) * 0.5f);
    return *density * (q * p);
}
#endif

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

void KERNEL(relu_slope)(scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar at = x[i];
        y[i] = at < 0 ? 0 : at; /* NaN stays, here and below */
        x[i] = at > 0 ? 1 : at <= 0 ? 0 : at;
    }
    if (curvature)
        memset(curvature, 0, (size_t)count * sizeof(*curvature));
}

/* From the tail at a = |x|: x Phi(x) = max(x, 0) - a Phi(-a). The slope at -a is d = Phi(-a) - a phi(a), at a
 * 1 - d; the curvature is phi(a) (2 - a^2). Inlined, so that the compiler builds each activation with and
 * without its curvature. */
INLINE void gelu_and(bool curved, scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    const scalar inverse_root_2pi = (scalar)0.3989422804014327, far = NORMAL_FAR;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar at = x[i], size = scalar_abs(at), density;
        scalar a = size > far ? far : size; /* NaN stays, here and below */
        scalar tail = normal_tail(a, &density);
        scalar d = tail - a * (inverse_root_2pi * density);
        y[i] = (at < 0 ? 0 : at) - a * tail;
        x[i] = at < 0 ? d : 1 - d;
        if (curved)
            curvature[i] = inverse_root_2pi * density * (2 - a * a);
    }
}

void KERNEL(gelu)(scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    if (curvature)
        gelu_and(true, y, x, curvature, count);
    else
        gelu_and(false, y, x, NULL, count);
}

/*
 * With v = 2 sqrt(2/pi) (x + 0.044715 x^3) the result is x / (1 + exp(-v)): as above, with the tail exp(-v) /
 * (1 + exp(-v)) at a = |x|, which has the slope -v' q, q = tail (1 - tail). The curvature is even: q (2 v' +
 * a (v'' - (1 - 2 tail) v'^2)).
 */
INLINE void gelu_tanh_and(bool curved, scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    const scalar first = (scalar)1.5957691216057308, third = (scalar)0.07135481627260025, far = NORMAL_FAR;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar at = x[i], size = scalar_abs(at);
        scalar a = size > far ? far : size; /* NaN stays, here and below */
        scalar e = exponential(-a * (first + third * a * a));
        scalar tail = e / (1 + e);
        scalar d = tail - a * tail * (1 - tail) * (first + 3 * third * a * a);
        y[i] = (at < 0 ? 0 : at) - a * tail;
        x[i] = at < 0 ? d : 1 - d;
        if (curved) {
            scalar slope = first + 3 * third * a * a;
            scalar bend = 6 * third * a - (1 - 2 * tail) * slope * slope;
            curvature[i] = tail * (1 - tail) * (2 * slope + a * bend);
        }
    }
}

void KERNEL(gelu_tanh)(scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    if (curvature)
        gelu_tanh_and(true, y, x, curvature, count);
    else
        gelu_tanh_and(false, y, x, NULL, count);
}

#ifdef SCALAR_DOUBLE
#define LOGISTIC_FAR 750 /* exp(-750) is 0 */
#else
#define LOGISTIC_FAR 88 /* the exponential is 0 there */
#endif

/* The same with v = x: the slope at -a is d = tail - a q, the curvature q (2 - a (1 - 2 tail)). */
INLINE void silu_and(bool curved, scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    const scalar far = LOGISTIC_FAR;

    SIMD
    for (int64_t i = 0; i < count; i++) {
        scalar at = x[i], size = scalar_abs(at);
        scalar a = size > far ? far : size; /* NaN stays, here and below */
        scalar e = exponential(-a);
        scalar tail = e / (1 + e), q = tail * (1 - tail);
        scalar d = tail - a * q;
        y[i] = (at < 0 ? 0 : at) - a * tail;
        x[i] = at < 0 ? d : 1 - d;
        if (curved)
            /* cppcheck-suppress nullPointer; then it is not NULL */
            curvature[i] = q * (2 - a * (1 - 2 * tail));
    }
}

void KERNEL(silu)(scalar *y, scalar *x, scalar *curvature, int64_t count)
{
    if (curvature)
        silu_and(true, y, x, curvature, count);
    else
        silu_and(false, y, x, NULL, count);
}

void KERNEL(multiply)(scalar *out, const scalar *a, const scalar *b, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        out[i] = a[i] * b[i];
}

void KERNEL(add_scaled)(scalar *out, const scalar *a, const scalar *b, scalar factor, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        out[i] = (a ? a[i] : 0) + factor * b[i];
}

void KERNEL(multiply_tangent)(
    scalar *tout, const scalar *a, const scalar *ta, const scalar *b, const scalar *tb, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        tout[i] = ta[i] * b[i] + a[i] * tb[i];
}
