#ifndef NORMSWEEP_MODEL_KERNELS_LEVEL_H
#define NORMSWEEP_MODEL_KERNELS_LEVEL_H

/*
 * What the sources of the kernels share. Each source is built once per vector level, with KERNELS_LEVEL set
 * to the level's name and with the compiler's flags for it. Most loops are plain C that compilers vectorise.
 * Only `omp simd` allows reductions to reassociate, so that NaN and infinities keep their meaning everywhere.
 */
#include "model/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A kernel's name at this level: dot_avx512. */
#define KERNEL(name) KERNEL_OF(name, KERNELS_LEVEL)
#define KERNEL_OF(name, level) KERNEL_JOINED(name, level)
#define KERNEL_JOINED(name, level) name##_##level

/* For functions of vectors, which calls would pass through memory, and loops built for constant arguments. */
#define INLINE static inline __attribute__((always_inline))

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
 * -87, 0 at -88: 2^n times a polynomial of degree 6 (relative error 7e-9) in the remainder, which is at most
 * ln(2)/2 + rest away from 0. Without branches, so that it vectorises. Adding 1.5 * 2^23 rounds to an integer
 * and leaves it in the low bits; with another 127 these bits are the exponent of 2^n, or 0 if n is -127.
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

/*
 * The functions of struct kernels: X(name). Their declarations and the table of each level follow from them.
 * Levels of `precision: bfloat16` have products of their own, mostly attention of their own, and nothing
 * else.
 */
#define PRODUCT_NAMES(X) X(product)
#define ATTENTION_NAMES(X)                                                                                   \
    X(attention)                                                                                             \
    X(attended)                                                                                              \
    X(attention_gradient)                                                                                    \
    X(attention_tangent)                                                                                     \
    X(attention_gradient_tangent)
#define PLAIN_NAMES(X)                                                                                       \
    X(mirror)                                                                                                \
    X(add)                                                                                                   \
    X(column_sums)                                                                                           \
    X(norm)                                                                                                  \
    X(norm_gradient)                                                                                         \
    X(norm_tangent)                                                                                          \
    X(norm_gradient_tangent)                                                                                 \
    X(relu)                                                                                                  \
    X(relu_gradient)                                                                                         \
    X(relu_slope)                                                                                            \
    X(gelu)                                                                                                  \
    X(gelu_tanh)                                                                                             \
    X(silu)                                                                                                  \
    X(multiply)                                                                                              \
    X(add_scaled)                                                                                            \
    X(multiply_tangent)                                                                                      \
    X(rotary)                                                                                                \
    X(attention_weights)                                                                                     \
    X(cross_entropy)                                                                                         \
    X(cross_entropy_gradient)                                                                                \
    X(cross_entropy_tangent)                                                                                 \
    X(argmax)                                                                                                \
    X(dot)                                                                                                   \
    X(sums)                                                                                                  \
    X(keep)                                                                                                  \
    X(difference)                                                                                            \
    X(round_bfloat16)                                                                                        \
    X(round_bfloat16_by_chance)                                                                              \
    X(adam)                                                                                                  \
    X(adam_sums)                                                                                             \
    X(sgd)                                                                                                   \
    X(sgd_sums)                                                                                              \
    X(descend)                                                                                               \
    X(lion)                                                                                                  \
    X(look_ahead)                                                                                            \
    X(lion_sums)                                                                                             \
    X(add_squares)                                                                                           \
    X(over_root)                                                                                             \
    X(draw_bits)                                                                                             \
    X(draw_uniform)                                                                                          \
    X(draw_normal)

/* Declares each function of struct kernels at this level, with the type of its field. */
#define X(name) __typeof__(*((struct kernels *)NULL)->name) KERNEL(name);
PRODUCT_NAMES(X)
ATTENTION_NAMES(X)
PLAIN_NAMES(X)
#undef X

#endif
