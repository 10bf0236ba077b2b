/* Draws many at a time, at every vector level, against model/core/random.h, bit for bit. */
#include "tests/test.h"

#include "model/core/random.h"
#include "tests/model/kernels/each_level.h"

enum { MOST = 300, GUARD = 7 };

/* Draws from here on: the least, in a tensor of weights, and across the places where the words of a counter
 * carry. */
static const uint64_t begins[] = {
    0, UINT64_C(4711) << 40, (UINT64_C(1) << 32) - 100, (UINT64_C(1) << 40) - 3, UINT64_MAX - 130};
enum { BEGINS = sizeof(begins) / sizeof(*begins) };
static const uint64_t seeds[] = {0, 1, UINT64_C(0xFEDCBA9876543210)};
enum { SEEDS = sizeof(seeds) / sizeof(*seeds) };

/* A function that checks draws [first, first + count) of a seed. */
typedef void check_function(const struct kernels *kernels, uint64_t seed, uint64_t first, int64_t count);

static void each_place(const struct kernels *kernels, check_function *check)
{
    for (int s = 0; s < SEEDS; s++)
        for (int b = 0; b < BEGINS; b++)
            for (int64_t count = 0; count <= MOST; count += count < 140 ? 1 : 37)
                check(kernels, seeds[s], begins[b], count);
}

static void check_bits(const struct kernels *kernels, uint64_t seed, uint64_t first, int64_t count)
{
    uint64_t bits[MOST + GUARD];
    int64_t wrong = 0;

    memset(bits, 0x5a, sizeof(bits));
    kernels->draw_bits(bits, count, seed, RANDOM_TEST, first);
    for (int64_t i = 0; i < count; i++)
        wrong += bits[i] != random_bits(seed, RANDOM_TEST, first + (uint64_t)i);
    for (int64_t i = count; i < count + GUARD; i++)
        wrong += bits[i] != UINT64_C(0x5a5a5a5a5a5a5a5a);
    CHECK(wrong == 0);
}

EACH_LEVEL(draws_of_bits)
{
    each_place(kernels, check_bits);
}

/* Equal bits: 0 and -0 differ. */
static bool same(scalar a, scalar b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static scalar uniform(double bound, uint64_t seed, uint64_t index)
{
    return (scalar)(bound * (2 * random_uniform(seed, RANDOM_TEST, index) - 1));
}

static scalar normal(double deviation, uint64_t seed, uint64_t index)
{
    return (scalar)(deviation * random_normal(seed, RANDOM_TEST, index));
}

static void check_reals(const struct kernels *kernels, uint64_t seed, uint64_t first, int64_t count)
{
    scalar u[MOST + GUARD], n[MOST + GUARD];
    int64_t wrong = 0;

    for (int64_t i = 0; i < count + GUARD; i++)
        u[i] = n[i] = 7;
    kernels->draw_uniform(u, count, 0.3, seed, RANDOM_TEST, first);
    kernels->draw_normal(n, count, 0.3, seed, RANDOM_TEST, first);
    for (int64_t i = 0; i < count; i++)
        wrong += !same(u[i], uniform(0.3, seed, first + (uint64_t)i)) +
                 !same(n[i], normal(0.3, seed, first + (uint64_t)i));
    for (int64_t i = count; i < count + GUARD; i++)
        wrong += !same(u[i], 7) + !same(n[i], 7);
    CHECK(wrong == 0);
}

EACH_LEVEL(draws_of_real_numbers)
{
    each_place(kernels, check_reals);
}

/*
 * Many draws, so that some lie so close to where rounding changes that the kernels have to draw them again.
 * If the kernels were off by more than they assume, one in 2^20 draws or more would differ.
 */
EACH_LEVEL(draws_of_many_normal_numbers)
{
    enum { COUNT = 1 << 14, ROUNDS = 1 << 8 };
    static scalar x[COUNT];
    int64_t wrong = 0;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        kernels->draw_normal(x, COUNT, 1, 3, RANDOM_TEST, round * COUNT);
        for (uint64_t i = 0; i < COUNT; i++)
            wrong += !same(x[i], normal(1, 3, round * COUNT + i));
    }
    CHECK(wrong == 0);
}

/* Deviations at which draws round to 0, are denormal or overflow. */
EACH_LEVEL(draws_of_extreme_deviations)
{
    static const double deviations[] = {0, -1, 1e-50, 1e-46, 1e-38, 3e38, 1e300, NAN};
    scalar x[MOST];

    for (size_t d = 0; d < sizeof(deviations) / sizeof(*deviations); d++) {
        int64_t wrong = 0;
        kernels->draw_normal(x, MOST, deviations[d], 5, RANDOM_TEST, 0);
        for (int64_t i = 0; i < MOST; i++) {
            scalar expected = normal(deviations[d], 5, (uint64_t)i);
            wrong += isnan(expected) ? !isnan(x[i]) : !same(x[i], expected);
        }
        CHECK(wrong == 0);
    }
}
