#ifndef NORMSWEEP_MODEL_KERNELS_RANDOM_WORDS_H
#define NORMSWEEP_MODEL_KERNELS_RANDOM_WORDS_H

/* Random draws by vectors: the blocks of Philox4x32-10 (model/core/random.h), several at once. */
#include "model/kernels/level.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "model/core/random.h"

INLINE uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Vectors of 64-bit words. */
#if defined(__AVX512F__)
enum { WORDS = 8 };
#elif defined(__AVX2__)
enum { WORDS = 4 };
#else
enum { WORDS = 2 };
#endif
typedef uint64_t words __attribute__((vector_size(8 * WORDS)));

/* The products of the lower halves of words: gcc 12 does not find the instruction by itself. */
INLINE words product_of_halves(words a, words b)
{
#if defined(__AVX512F__)
    return (words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

/*
 * The blocks from `index` on, WORDS of them: in `first` what random_bits gives, the first two of a block's
 * four words, in `second` the other two in the same way. Computed on the lower halves of 64-bit words; what
 * stands in the upper ones is cut off at the end.
 */
INLINE void random_words(
    uint64_t *first, uint64_t *second, uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    const words none = {0}, lower = UINT32_MAX - none;
    const words multiplier_0 = PHILOX_MULTIPLIER_0 - none, multiplier_2 = PHILOX_MULTIPLIER_2 - none;
    uint32_t key_0 = (uint32_t)seed, key_1 = (uint32_t)(seed >> 32);
    words x0 = index - none, x1, x2 = (uint64_t)purpose - none, x3 = none;

    for (int lane = 0; lane < WORDS; lane++)
        x0[lane] += (uint64_t)lane;
    x1 = x0 >> 32;
    _Pragma("GCC unroll 10") for (int round = 0; round < PHILOX_ROUNDS; round++)
    {
        words product_0 = product_of_halves(x0, multiplier_0),
              product_2 = product_of_halves(x2, multiplier_2);
        x0 = (product_2 >> 32) ^ x1 ^ (uint64_t)key_0;
        x2 = (product_0 >> 32) ^ x3 ^ (uint64_t)key_1;
        x1 = product_2;
        x3 = product_0;
        key_0 += PHILOX_WEIGHT_0;
        key_1 += PHILOX_WEIGHT_1;
    }
    x0 = x0 << 32 | (x1 & lower);
    x2 = x2 << 32 | (x3 & lower);
    memcpy(first, &x0, sizeof(x0));
    memcpy(second, &x2, sizeof(x2));
}

#endif
