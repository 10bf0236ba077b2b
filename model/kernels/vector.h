#ifndef NORMSWEEP_MODEL_KERNELS_VECTOR_H
#define NORMSWEEP_MODEL_KERNELS_VECTOR_H

/* Vectors of the level's width, written with the vector types of gcc and clang, so that one source serves
 * every processor. */
#include "model/kernels/level.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined(KERNELS_AMX)
enum { VECTOR_BYTES = 64, TILE_ROWS = 32 }; /* two tiles of the processor, by two */
#elif defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_ROWS = 8 }; /* 32 registers: 16 sums, 2 vectors of b, 1 scalar of a */
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, TILE_ROWS = 6 }; /* 16 registers: 12 sums, 2 vectors of b, 1 scalar of a */
#else
enum { VECTOR_BYTES = 16, TILE_ROWS = 6 };
#endif

enum { LANES = VECTOR_BYTES / (int)sizeof(scalar), TILE_VECTORS = 2, TILE_COLUMNS = LANES * TILE_VECTORS };

#ifdef SCALAR_DOUBLE
typedef int64_t lane_index;
typedef uint64_t lane_bits;
#else
typedef int32_t lane_index;
typedef uint32_t lane_bits;
#endif
typedef scalar vector __attribute__((vector_size(VECTOR_BYTES)));
typedef lane_index vector_index __attribute__((vector_size(VECTOR_BYTES)));
typedef lane_bits vector_bits __attribute__((vector_size(VECTOR_BYTES)));
/* A vector in memory, at any address that suits a scalar. */
typedef scalar vector_there __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(scalar)), may_alias));

/* Unrolls before the compiler assigns registers. */
#define UNROLLED _Pragma("GCC unroll 16")

INLINE int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINE vector vector_load(const scalar *from)
{
    return *(const vector_there *)from;
}

INLINE void vector_store(scalar *to, vector value)
{
    *(vector_there *)to = value;
}

/* The first `count` lanes from memory, the others 0. */
INLINE vector vector_load_part(const scalar *from, int64_t count)
{
#if defined(__AVX512F__) && !defined(SCALAR_DOUBLE)
    return (vector)_mm512_maskz_loadu_ps((__mmask16)((1u << at_most(count, LANES)) - 1), from);
#else
    scalar lane[LANES] = {0};

    memcpy(lane, from, (size_t)at_most(count, LANES) * sizeof(*lane));
    return vector_load(lane);
#endif
}

/* The first `count` lanes to memory; what follows there stays. */
INLINE void vector_store_part(scalar *to, vector value, int64_t count)
{
#if defined(__AVX512F__) && !defined(SCALAR_DOUBLE)
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << at_most(count, LANES)) - 1), (__m512)value);
#else
    memcpy(to, &value, (size_t)at_most(count, LANES) * sizeof(*to));
#endif
}

INLINE vector vector_all(scalar value)
{
    return value - (vector){0}; /* -0 stays -0 */
}

/* 0, 1, 2, ... */
INLINE vector_index vector_lanes(void)
{
    vector_index lanes = {0};

    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = lane;
    return lanes;
}

/* In each lane `yes` if `which` is -1, `no` if it is 0. */
INLINE vector vector_select(vector_index which, vector yes, vector no)
{
    return (vector)(((vector_index)yes & which) | ((vector_index)no & ~which));
}

/* a > b ? a : b in each lane, so b where one is NaN: one instruction, which compilers do not make of a
 * selection. */
INLINE vector vector_larger(vector a, vector b)
{
#if defined(SCALAR_DOUBLE) || !defined(__SSE2__)
    return vector_select(a > b, a, b);
#elif defined(__AVX512F__)
    return (vector)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX__)
    return (vector)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return (vector)_mm_max_ps((__m128)a, (__m128)b);
#endif
}

/* Each lane takes the value of the lane before it, the first one 0. */
INLINE vector vector_shift(vector x)
{
#ifdef __clang__
    for (int lane = LANES - 1; lane > 0; lane--)
        x[lane] = x[lane - 1];
    x[0] = 0;
    return x;
#else
    return __builtin_shuffle(x, (vector){0}, vector_lanes() - 1); /* places count modulo 2 LANES */
#endif
}

/* exp(x) in each lane; see exponential() and exponential_less(). */
INLINE vector vector_exponential(vector x)
{
#ifdef SCALAR_DOUBLE
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = exp(x[lane]);
    return x;
#else
    vector clipped = vector_larger(vector_all(-88.0f), x);
    vector shifted = clipped * 0x1.715476p0f + (0x1.8p23f + 127);
    vector n = shifted - (0x1.8p23f + 127);
    vector r = (clipped - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    vector square = r * r;
    vector high = 0x1.5570f8p-5f + 0x1.123d8ap-7f * r + 0x1.588ff6p-10f * square;
    vector p = 1 + r + square * (0x1.ffffep-2f + 0x1.555488p-3f * r + high * square);

    return p * (vector)((vector_index)shifted << 23);
#endif
}

/* Where the lanes are blocks of h, every second block of `first` changes places with the block before it of
 * `second`: h is 1, 2, 4 and so on below LANES. */
INLINE void vector_swap(vector *first, vector *second, int h)
{
#ifdef __clang__
    for (int lane = 0; lane < LANES; lane++)
        if (lane & h) {
            scalar swapped = (*first)[lane];
            (*first)[lane] = (*second)[lane - h];
            (*second)[lane - h] = swapped;
        }
#else
    const vector_index lane = vector_lanes(), odd = (lane & h) != 0;
    const vector_index low = lane + (odd & (LANES - h)), high = lane + (odd & LANES) + (~odd & h);
    vector from = *first;

    *first = __builtin_shuffle(from, *second, low);
    *second = __builtin_shuffle(from, *second, high);
#endif
}

/* Transposes LANES rows of LANES scalars in registers. */
INLINE void vector_transpose(vector row[LANES])
{
    UNROLLED
    for (int h = 1; h < LANES; h *= 2) {
        UNROLLED
        for (int i = 0; i < LANES; i++)
            if (!(i & h))
                vector_swap(&row[i], &row[i + h], h);
    }
}

/* The sums of the lanes of four vectors. */
INLINE void vector_sums(scalar sum[4], vector a, vector b, vector c, vector d)
{
    vector_swap(&a, &b, 1);
    vector_swap(&c, &d, 1);
    a += b;
    c += d;
    if (LANES == 2) {
        vector_store(sum, a);
        vector_store(sum + 2, c);
        return;
    }
    vector_swap(&a, &c, 2);
    a += c;
    UNROLLED
    for (int h = LANES / 2; h >= 4; h /= 2) {
        vector other = a;
        vector_swap(&a, &other, h);
        a += other;
    }
    memcpy(sum, &a, 4 * sizeof(*sum));
}

#endif
