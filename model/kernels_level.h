#ifndef NORMSWEEP_MODEL_KERNELS_LEVEL_H
#define NORMSWEEP_MODEL_KERNELS_LEVEL_H

/*
 * What the sources of the kernels share. Each is built once per vector level, with KERNELS_LEVEL set to its
 * name and the compiler's flags for it. The loops are plain C that compilers vectorise: reductions are
 * allowed to reassociate by `omp simd` alone, so that NaN and infinities keep their meaning everywhere.
 */
#include "model/kernels.h"

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
#define SCALAR_LEAST DBL_MIN
#define scalar_erfc erfc
#else
/*
 * exp(x) for x <= 0 (and NaN), within 2 units in the last place down to -87, 0 below: 2^n times a
 * polynomial in the remainder |r| <= ln(2)/2 (Taylor's, to degree 7). Branch-free, so that it vectorises;
 * adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
 */
static inline float exponential(float x)
{
    const float round = 0x1.8p23f;
    float clipped = x < -87.0f ? -87.0f : x;
    float shifted = clipped * 0x1.715476p0f + round;
    float n = shifted - round;
    float r = (clipped - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float p = 1.98412698e-4f;
    int32_t bits;
    float power;

    p = p * r + 1.38888889e-3f;
    p = p * r + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;
    memcpy(&power, &bits, sizeof(power));
    return x < -87.0f ? 0 : p * power;
}
#define scalar_sqrt sqrtf
#define SCALAR_LEAST ((double)FLT_MIN)
#define scalar_erfc erfcf
#endif

/* What kernels.c gathers in the table of the level; see struct kernels. */
void KERNEL(product)(const struct product *product, scalar *scratch);
void KERNEL(spread)(scalar *out, const scalar *residual, const scalar *bias, int64_t rows, int64_t columns);
void KERNEL(column_sums)(scalar *sums, const scalar *in, int64_t rows, int64_t columns, bool add);
void KERNEL(layernorm)(scalar *out, const scalar *in, const scalar *residual, const scalar *gain,
    const scalar *bias, scalar *mean, scalar *scale, int64_t rows, int64_t width);
void KERNEL(layernorm_gradient)(scalar *din, scalar *dgain, scalar *dbias, const scalar *dout,
    const scalar *in, const scalar *gain, const scalar *mean, const scalar *scale, int64_t rows,
    int64_t width, bool add);
void KERNEL(relu)(scalar *x, int64_t count);
void KERNEL(relu_gradient)(scalar *dx, const scalar *y, int64_t count);
void KERNEL(gelu)(scalar *y, const scalar *x, int64_t count);
void KERNEL(gelu_gradient)(scalar *dx, const scalar *x, int64_t count);
void KERNEL(attention)(const struct head *head, scalar *mixed, int64_t mixed_stride, scalar *scratch);
void KERNEL(attention_gradient)(const struct head *head, scalar *dq, scalar *dk, scalar *dv,
    const scalar *dmixed, int64_t dmixed_stride, scalar *scratch);
double KERNEL(cross_entropy)(const scalar *logits, int64_t count, int64_t target);
double KERNEL(cross_entropy_gradient)(scalar *logits, int64_t count, int64_t target, scalar weight);
double KERNEL(dot)(const scalar *a, const scalar *b, int64_t count);
void KERNEL(difference)(const scalar *a, const scalar *b, int64_t count, double *square, double *product);
void KERNEL(adam)(const struct adam_pass *pass, scalar *weights, scalar *first, scalar *second,
    const scalar *gradient, int64_t count);
void KERNEL(adam_direction)(const struct adam_pass *pass, scalar *direction, const scalar *first,
    const scalar *second, const scalar *gradient, int64_t count);

#endif
