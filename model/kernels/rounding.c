/*
 * Rounding to bfloat16, the upper 16 bits of a float: weights that are kept in bfloat16.
 *
 * To the nearest is an addition of just below half a unit, or half a unit if the last bit that stays is 1; by
 * chance it is an addition of 16 random bits in the place of the 16 bits to be cut. Both carry into the
 * exponent where they must, also to infinity. A double is rounded from its own bits, not by way of a float:
 * two roundings to the nearest are not one. By chance it is as if a float had been rounded, but for a double
 * whose distance to two floats is the same.
 *
 * Random bits: block number b of the seed's purpose RANDOM_ROUNDING (model/core/random.h) has four words x0
 * .. x3. Sixteen blocks make a group of 128 neighbours, four rows of 32: element i, in row r = i % 128 / 32
 * and e = i % 32, is of block i / 128 * 16 + e / 2. In rows 0 and 1 it has 16 bits of x1 if e is even, of x0
 * if it is odd, in rows 2 and 3 of x3 and x2: the lower half in rows 0 and 2, the upper one in 1 and 3. That
 * is the order in which vectors of 64-bit words leave them in memory, whatever the length of vectors.
 */
#include "model/kernels/random_words.h"

enum { BLOCKS = 16, ROW = 2 * BLOCKS };
_Static_assert(ROUNDING_GROUP == 4 * ROW, "each half of a word is used once");

/* The words of two rows. */
union row_words {
    uint64_t number[BLOCKS];
    uint32_t word[ROW];
};

/* Those of blocks first .. first + BLOCKS - 1. */
static void draw_group(union row_words rows[2], uint64_t seed, uint64_t first)
{
    for (int b = 0; b < BLOCKS; b += WORDS)
        random_words(rows[0].number + b, rows[1].number + b, seed, RANDOM_ROUNDING, first + (uint64_t)b);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int b = 0; b < 2 * BLOCKS; b++) {
        uint64_t *number = &rows[b / BLOCKS].number[b % BLOCKS];
        *number = *number << 32 | *number >> 32;
    }
#endif
}

#ifdef SCALAR_DOUBLE
/* Bits of a double that a bfloat16 of its size does not have; those that a float does not have. */
enum { CUT = 52 - 7, BELOW_FLOAT = 52 - 23 };

/* Adds to the bits and cuts; with the exponent of a double, a result of 2^128 has yet to become infinite. */
static inline double add_and_cut(double x, uint64_t added)
{
    uint64_t bits = (bits_of(x) + added) >> CUT << CUT;
    double cut;

    memcpy(&cut, &bits, sizeof(cut));
    return fabs(cut) >= 0x1p128 ? copysign(INFINITY, x) : cut;
}

static inline double to_nearest(double x)
{
    double large = copysign(0x1.8p-81, x); /* whose neighbours are 2^-133 away */
    double small = copysign((x + large) - large, x);
    double rounded = add_and_cut(x, (UINT64_C(1) << (CUT - 1)) - 1 + (bits_of(x) >> CUT & 1));

    rounded = fabs(x) < 0x1p-126 ? small : rounded;
    return x != x ? x : rounded;
}

/* In the middle of what a float rounds to it, a draw stands for all its bits below. */
static inline double by_chance(double x, uint32_t draw)
{
    double small = copysign(floor(fabs(x) * 0x1p133 + ((double)draw + 0.5) * 0x1p-16) * 0x1p-133, x);
    double rounded = add_and_cut(x, (uint64_t)draw << BELOW_FLOAT | UINT64_C(1) << (BELOW_FLOAT - 1));

    rounded = fabs(x) < 0x1p-126 ? small : rounded;
    return x != x || fabs(x) == INFINITY ? x : rounded;
}
#else
static inline float cut(uint32_t bits, uint32_t added)
{
    const uint32_t infinite = 0x7f800000, quiet = 0x00400000;
    bool nan = (bits & 0x7fffffff) > infinite;
    float x;

    bits = (nan ? bits | quiet : bits + added) & 0xffff0000;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline float to_nearest(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return cut(bits, 0x7fff + (bits >> 16 & 1));
}

static inline float by_chance(float x, uint32_t draw)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return cut(bits, draw);
}
#endif

void KERNEL(round_bfloat16)(scalar *x, int64_t count)
{
    SIMD
    for (int64_t i = 0; i < count; i++)
        x[i] = to_nearest(x[i]);
}

static inline void round_row(scalar *x, int64_t count, const uint32_t word[ROW], int shift)
{
    SIMD
    for (int64_t e = 0; e < count; e++)
        x[e] = by_chance(x[e], word[e] >> shift & 0xffff);
}

void KERNEL(round_bfloat16_by_chance)(scalar *x, int64_t count, uint64_t seed, int64_t first)
{
    for (int64_t at = 0; at < count; at += ROUNDING_GROUP) {
        union row_words rows[2];
        int64_t rest = count - at;

        draw_group(rows, seed, (uint64_t)(first + at) / ROUNDING_GROUP * BLOCKS);
        for (int r = 0; r < 4 && rest > 0; r++, rest -= ROW)
            round_row(x + at + r * ROW, rest < ROW ? rest : ROW, rows[r / 2].word, r % 2 * 16);
    }
}
