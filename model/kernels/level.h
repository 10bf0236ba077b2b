#ifndef NORMSWEEP_MODEL_KERNELS_LEVEL_H
#define NORMSWEEP_MODEL_KERNELS_LEVEL_H

/*
 * What the sources of the kernels share. Each is built once per vector level, with KERNELS_LEVEL set to its
 * name and the compiler's flags for it. The loops are plain C that compilers vectorise: reductions are
 * allowed to reassociate by `omp simd` alone, so that NaN and infinities keep their meaning everywhere.
 */
#include "model/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A kernel's name at this level: dot_avx512. */
#define KERNEL(name) KERNEL_OF(name, KERNELS_LEVEL)
#define KERNEL_OF(name, level) KERNEL_JOINED(name, level)
#define KERNEL_JOINED(name, level) name##_##level

#define SIMD _Pragma("omp simd")
#define SIMD_SUM(...) SIMD_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_PRAGMA(text) _Pragma(#text)

#ifdef SCALAR_DOUBLE
static inline double exponential(double x)
{
    return exp(x);
}
#define scalar_sqrt sqrt
#define scalar_abs fabs
#define SCALAR_LEAST DBL_MIN
#else
/*
 * exp(x - rest) for -88 <= x <= 0 (and NaN) and 0 <= rest <= 0.1, within 2 units in the last place down to
 * -87, 0 at -88: 2^n times a polynomial in the remainder, at most ln(2)/2 and rest away from 0 (degree 6,
 * relative error 7e-9). Branch-free, so that it vectorises. Adding 1.5 * 2^23 rounds to an integer and leaves
 * it in the low bits; 127 more, and those bits are the exponent of 2^n, or 0 where n is -127.
 */
static inline float exponential_less(float x, float rest)
{
    const float round = 0x1.8p23f + 127;
    float shifted = x * 0x1.715476p0f + round;
    float n = shifted - round;
    float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f - rest;
    float square = r * r;
    float high = 0x1.5570f8p-5f + 0x1.123d8ap-7f * r + 0x1.588ff6p-10f * square;
    float p = 1 + r + square * (0x1.ffffep-2f + 0x1.555488p-3f * r + high * square);
    uint32_t bits;
    float power;

    memcpy(&bits, &shifted, sizeof(bits));
    bits <<= 23;
    memcpy(&power, &bits, sizeof(power));
    return p * power;
}

/* exp(x) for x <= 0 (and NaN), 0 from -88 down. */
static inline float exponential(float x)
{
    return exponential_less(x < -88.0f ? -88.0f : x, 0);
}
#define scalar_sqrt sqrtf
#define scalar_abs fabsf
#define SCALAR_LEAST ((double)FLT_MIN)
#endif

/* What kernels.c gathers in the table of the level; see struct kernels. */
void KERNEL(product)(const struct product *product, scalar *scratch);
void KERNEL(spread)(scalar *out, const scalar *residual, const scalar *bias, int64_t rows, int64_t columns);
void KERNEL(column_sums)(
    scalar *sums, const scalar *in, int64_t stride, int64_t rows, int64_t columns, bool add);
void KERNEL(layernorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar *mean, scalar *scale, int64_t rows, int64_t width);
void KERNEL(layernorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
    const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
    int64_t width, bool add);
void KERNEL(relu)(scalar *x, int64_t count);
void KERNEL(relu_gradient)(scalar *dx, const scalar *y, int64_t count);
void KERNEL(gelu)(scalar *y, scalar *x, int64_t count);
void KERNEL(gelu_tanh)(scalar *y, scalar *x, int64_t count);
void KERNEL(gelu_gradient)(scalar *dx, const scalar *slope, int64_t count);
void KERNEL(attention)(const struct head *head, scalar *mixed, int64_t mixed_stride, scalar *scratch);
void KERNEL(attended)(const struct head *head, int32_t *count, scalar *scratch);
void KERNEL(attention_gradient)(const struct head *head, scalar *dq, scalar *dk, scalar *dv,
    const scalar *dmixed, int64_t dmixed_stride, scalar *scratch);
double KERNEL(cross_entropy)(const scalar *logits, int64_t count, int64_t target);
double KERNEL(cross_entropy_gradient)(scalar *logits, int64_t count, int64_t target, scalar weight);
int64_t KERNEL(argmax)(const scalar *x, int64_t count);
double KERNEL(dot)(const scalar *a, const scalar *b, int64_t count);
struct sums KERNEL(sums)(const scalar *a, const scalar *b, int64_t count);
struct sums KERNEL(keep)(scalar *kept, const scalar *now, int64_t count);
struct sums KERNEL(difference)(const scalar *a, const scalar *b, int64_t count, double *b_square);
void KERNEL(adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count);
struct sums KERNEL(adam_sums)(const struct adam_pass *pass, const scalar *weights, const scalar *first,
    const scalar *second, const scalar *gradient, int64_t count);
void KERNEL(sgd)(
    const struct sgd_pass *pass, scalar *weights, scalar *buffer, const scalar *gradient, int64_t count);
struct sums KERNEL(sgd_sums)(const struct sgd_pass *pass, const scalar *weights, const scalar *buffer,
    const scalar *gradient, int64_t count);
void KERNEL(descend)(
    scalar *weights, const scalar *update, int64_t count, double scale, double rate, double decay);
double KERNEL(add_squares)(scalar *sums, const scalar *x, int64_t count, double scale, double share);
void KERNEL(over_root)(scalar *out, const scalar *x, const scalar *square, int64_t count, double factor);

#endif
