#ifndef NORMSWEEP_MODEL_KERNELS_FACTOR_H
#define NORMSWEEP_MODEL_KERNELS_FACTOR_H

/*
 * The factors of matrix products, and the tiles that read them: the core of every product here, whose sums
 * stay in registers. Levels for `precision: float` read scalars as they are. Levels for `precision: bfloat16`
 * round both factors of every product to the nearest bfloat16, ties to even: with AVX512_BF16 or AMX a factor
 * is a pair of bfloat16 numbers, neighbours along the sum over k; elsewhere it is a scalar that holds the
 * rounded number. A pair whose second number lies behind the last k has a 0 there. As those instructions do,
 * rounding takes denormal numbers for 0.
 */
#include "model/kernels/vector.h"

#if defined(KERNELS_BFLOAT16) && defined(__AVX512BF16__)
#define BFLOAT16_PAIRS
typedef uint32_t factor __attribute__((may_alias));
enum { BFLOAT16_PRODUCTS = 1, PAIR = 2 };
#elif defined(KERNELS_BFLOAT16)
typedef scalar factor;
enum { BFLOAT16_PRODUCTS = 1, PAIR = 1 };
#else
typedef scalar factor;
enum { BFLOAT16_PRODUCTS = 0, PAIR = 1 };
#endif

_Static_assert(sizeof(factor) == sizeof(scalar), "factors lie in scratch of scalars");

INLINE int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* The factors of `count` values along k. */
INLINE int64_t factors(int64_t count)
{
    return (count + PAIR - 1) / PAIR;
}

/* Memory for scalars, as memory for as many factors. */
INLINE factor *factors_in(scalar *memory)
{
    return (factor *)(void *)memory;
}

/* Scalars read as factors, at levels that do not round. */
INLINE const factor *as_factors(const scalar *from)
{
    return (const factor *)(const void *)from;
}

/* LANES factors in memory. */
INLINE vector factors_load(const factor *from)
{
    return *(const vector_there *)(const void *)from;
}

INLINE void factors_store(factor *to, vector value)
{
    *(vector_there *)(void *)to = value;
}

INLINE vector vector_absolute(vector x)
{
    return vector_select(x < 0, -x, x);
}

/* Each lane rounded to bfloat16: 8 significant bits and float's exponents. NaN stays NaN. */
INLINE vector vector_rounded(vector x)
{
#ifdef SCALAR_DOUBLE
    enum { DROPPED = 45 }; /* of 52 bits behind the point */
#else
    enum { DROPPED = 16 };
#endif
    const lane_bits half = (lane_bits)1 << (DROPPED - 1);
    const vector_bits bits = (vector_bits)x;
    const vector_bits up = bits + (half - 1) + ((bits >> DROPPED) & 1);
    const vector nearest = (vector)(up >> DROPPED << DROPPED);
    const vector signed_zero = x * 0;
    const vector size = vector_absolute(nearest);
    vector rounded = vector_select(vector_absolute(x) < (scalar)FLT_MIN, signed_zero, nearest);

    rounded = vector_select(size > (scalar)FLT_MAX, x * (scalar)INFINITY, rounded);
    return vector_select(vector_absolute(x) <= (scalar)INFINITY, rounded, x);
}

#ifdef BFLOAT16_PAIRS
/* The bfloat16 numbers of two vectors, one behind the other. */
INLINE vector factors_joined(vector first, vector next)
{
    return (vector)_mm512_cvtne2ps_pbh((__m512)next, (__m512)first);
}

/* The same numbers in turns: pairs of those in the same lane. */
INLINE vector paired(vector joined)
{
    static const uint16_t order[PAIR * LANES] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8,
        24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

    return (vector)_mm512_permutexvar_epi16(_mm512_loadu_si512(order), (__m512i)joined);
}
#endif

/* LANES factors of the PAIR * LANES scalars at `from`, which follow each other along k. */
INLINE vector factors_along(const scalar *from)
{
#ifdef BFLOAT16_PAIRS
    return factors_joined(vector_load(from), vector_load(from + LANES));
#else
    return BFLOAT16_PRODUCTS ? vector_rounded(vector_load(from)) : vector_load(from);
#endif
}

/* The same of the first `count` scalars, and of 0 behind them. */
INLINE vector factors_along_part(const scalar *from, int64_t count)
{
#ifdef BFLOAT16_PAIRS
    if (count <= LANES)
        return factors_joined(vector_load_part(from, count), (vector){0});
    return factors_joined(vector_load(from), vector_load_part(from + LANES, count - LANES));
#else
    vector part = vector_load_part(from, count);

    return BFLOAT16_PRODUCTS ? vector_rounded(part) : part;
#endif
}

/* LANES factors: of k in `first`, and in pairs of k + 1 in `next`. */
INLINE vector factors_across(vector first, vector next)
{
#ifdef BFLOAT16_PAIRS
    return paired(factors_joined(first, next));
#else
    (void)next;
    return BFLOAT16_PRODUCTS ? vector_rounded(first) : first;
#endif
}

/* Rows of scalars along k become rows of whole vectors of factors; behind the last k they are 0. Prefetches
 * the next row: the processor would do so only after it has missed some lines of it. */
INLINE void pack_rows(
    factor *to, int64_t to_row, const scalar *from, int64_t from_row, int64_t rows, int64_t depth)
{
    for (int64_t i = 0; i < rows; i++, to += to_row, from += from_row) {
        int64_t k = 0;

        for (; k + PAIR * LANES <= depth; k += PAIR * LANES) {
            for (int64_t j = 0; i + 1 < rows && j < PAIR; j++)
                __builtin_prefetch(from + from_row + k + j * LANES);
            factors_store(to + k / PAIR, factors_along(from + k));
        }
        if (k < depth)
            factors_store(to + k / PAIR, factors_along_part(from + k, depth - k));
    }
}

/* One row of `count` factors, rounded up to whole vectors, from the first of `rows` rows of scalars, `stride`
 * apart, which follow each other along k, and in pairs from the second, if there is one. Factors behind the
 * last are 0. */
INLINE void pack_across(factor *to, const scalar *from, int64_t stride, int64_t rows, int64_t count)
{
    const bool second = PAIR > 1 && rows > 1;
    int64_t i = 0;

    for (; i + LANES <= count; i += LANES) {
        vector next = second ? vector_load(from + stride + i) : (vector){0};
        factors_store(to + i, factors_across(vector_load(from + i), next));
    }
    if (i < count) {
        vector next = second ? vector_load_part(from + stride + i, count - i) : (vector){0};
        factors_store(to + i, factors_across(vector_load_part(from + i, count - i), next));
    }
}

/* Packs LANES rows of `depth` scalars along k, transposed: the factor of row i and of k goes to
 * to[k / PAIR * to_row + i]. Rows from `count` on become 0. */
INLINE void transpose_rows(
    factor *to, int64_t to_row, const scalar *from, int64_t from_row, int64_t count, int64_t depth)
{
    int64_t k = 0;

    for (; count >= LANES && k + PAIR * LANES <= depth; k += PAIR * LANES) {
        vector row[LANES];
        UNROLLED
        for (int i = 0; i < LANES; i++)
            row[i] = factors_along(from + i * from_row + k);
        vector_transpose(row);
        UNROLLED
        for (int i = 0; i < LANES; i++)
            factors_store(to + (k / PAIR + i) * to_row, row[i]);
    }
    for (; k < depth; k += PAIR * LANES) {
        vector row[LANES] = {0};
        for (int64_t i = 0; i < at_most(count, LANES); i++)
            row[i] = factors_along_part(from + i * from_row + k, depth - k);
        vector_transpose(row);
        for (int64_t i = 0; i < at_most(factors(depth - k), LANES); i++)
            factors_store(to + (k / PAIR + i) * to_row, row[i]);
    }
}

/* ---- tiles ---- */

/*
 * c = a b, `rows` <= TILE_ROWS rows by `vectors` <= TILE_VECTORS vectors, with what struct product adds to
 * it. Step s of the sum over k takes PAIR values of k: that factor of a's row i lies at a[i * a_row + s *
 * a_step], those of b at b + s * b_row. Row i of c lies at c + i * c_row.
 *
 * AMX reads whole tiles: a_step is 1, `steps` a multiple of STEPS, and TILE_ROWS rows of a and TILE_COLUMNS
 * columns of b can be read, whatever they hold.
 */
struct tile {
    const factor *a, *b;
    int64_t a_row, a_step, b_row;
    int64_t steps; /* s = 0 .. steps - 1 */
    scalar *c;
    const scalar *residual, *gate; /* laid out like c; NULL for none */
    const scalar *bias; /* [vectors * LANES]; NULL for none */
    int64_t c_row;
    bool add; /* to what c holds */
    bool relu;
};
#ifdef KERNELS_AMX
enum { STEPS = 16 };
/* Before the first tile and after the last one of a thread's share: tiles are a state of the processor. */
void KERNEL(tiles_begin)(void);
void KERNEL(tiles_end)(void);
#else
enum { STEPS = 1 };
INLINE void KERNEL(tiles_begin)(void)
{
}
INLINE void KERNEL(tiles_end)(void)
{
}
#endif

void KERNEL(tile)(const struct tile *tile, int64_t rows, int64_t vectors);

#endif
