/* Rounding to bfloat16 at every vector level: every number of that format, what lies between two of them, and
 * draws. */
#include "tests/test.h"

#include "model/core/random.h"
#include "tests/model/kernels/each_level.h"

enum {
    INFINITE = 0x7f80, /* the upper 16 bits of infinity; all below are finite */
    COUNT = 5 * ROUNDING_GROUP + 77
};

/* The bfloat16 with these bits; of infinity, what follows the largest one. */
static double value_of(int bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof(value));
    return bits == INFINITE ? 0x1p128 : (double)value;
}

/* The same bits, also of NaN and of zeros. */
static bool is(scalar got, double expected)
{
    scalar same = (scalar)expected;

    return memcmp(&got, &same, sizeof(got)) == 0;
}

static void check_to(const struct kernels *kernels, double x, double expected)
{
    double rounded = fabs(expected) == 0x1p128 ? copysign(INFINITY, expected) : expected;
    scalar both[] = {(scalar)x, (scalar)-x};

    kernels->round_bfloat16(both, 2);
    if (!(is(both[0], rounded) && is(both[1], -rounded)))
        test_fail(__FILE__, __LINE__, "%s: %a and its negative become %a and %a, not %a", kernels->level, x,
            (double)both[0], (double)both[1], rounded);
}

/* Between two neighbours: at 2^-16 shares of their distance, and just beside the middle. */
static void check_between(const struct kernels *kernels, int bits)
{
    static const int shares[] = {
        0, 1, 2, 0x1234, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0x8002, 0xfedc, 0xfffe, 0xffff};
    double lower = value_of(bits), upper = value_of(bits + 1), even = bits % 2 ? upper : lower;

    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        double share = shares[i] * 0x1p-16;
        check_to(kernels, lower + share * (upper - lower), share < 0.5 ? lower : share > 0.5 ? upper : even);
    }
#ifdef SCALAR_DOUBLE
    double middle = lower + 0.5 * (upper - lower);
    check_to(kernels, nextafter(middle, 0), lower); /* not by way of a float, which would be the middle */
    check_to(kernels, nextafter(middle, INFINITY), upper);
#endif
}

EACH_LEVEL(rounding_to_the_nearest_of_all)
{
    for (int bits = 0; bits < INFINITE && test_failures() == 0; bits++)
        check_between(kernels, bits);
}

/* What has no neighbours keeps its kind, by both roundings. A NaN whose upper bits are those of infinity,
 * too. */
EACH_LEVEL(rounding_keeps_what_is_not_finite)
{
    const uint32_t narrow = 0x7f800001, negative = 0xffffffff;
    float nan[2];

    memcpy(&nan[0], &narrow, sizeof(narrow));
    memcpy(&nan[1], &negative, sizeof(negative));
    for (uint64_t seed = 0; seed < 50; seed++) {
        scalar x[] = {(scalar)NAN, (scalar)nan[0], (scalar)nan[1], (scalar)INFINITY, (scalar)-INFINITY, 0,
            (scalar)-0.0};
        if (seed == 0)
            kernels->round_bfloat16(x, 7);
        else
            kernels->round_bfloat16_by_chance(x, 7, seed, 0);
        CHECK(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
        CHECK(is(x[3], INFINITY) && is(x[4], -INFINITY) && is(x[5], 0) && is(x[6], -0.0));
    }
}

/* ---- by chance ---- */

/* The draw of an element, from its definition: 16 of the 128 bits of a Philox block. */
static uint32_t draw_of(uint64_t seed, uint64_t element)
{
    uint64_t row = element % 128 / 32, place = element % 32, block = element / 128 * 16 + place / 2;
    uint32_t x[4] = {(uint32_t)block, (uint32_t)(block >> 32), RANDOM_ROUNDING, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)x[0] * 0xD2511F53, b = (uint64_t)x[2] * 0xCD9E8D57;
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b,
            (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
        memcpy(x, next, sizeof(x));
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    CHECK(((uint64_t)x[0] << 32 | x[1]) == random_bits(seed, RANDOM_ROUNDING, block));
    uint32_t word = x[row / 2 * 2 + (place % 2 == 0)];
    return row % 2 ? word >> 16 : word & 0xffff;
}

/* Numbers at 2^-16 shares of the distance of neighbours, of all sizes; sign and share of each. */
struct draws {
    int bits[COUNT], share[COUNT];
    scalar x[COUNT];
};

static void fill(struct draws *draws)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        draws->bits[i] = (int)random_below(1, RANDOM_TEST, 2 * i, INFINITE);
        draws->share[i] = (int)random_below(1, RANDOM_TEST, 2 * i + 1, 1 << 16);
        if (i % 5 == 0)
            draws->share[i] = (int)(i % 3) - 1 ? 0 : 0xffff;
        double lower = value_of(draws->bits[i]), upper = value_of(draws->bits[i] + 1);
        draws->x[i] = (scalar)(lower + draws->share[i] * 0x1p-16 * (upper - lower));
        if (i % 2)
            draws->x[i] = -draws->x[i];
    }
}

/* Up if share and draw together are a whole distance; so what is a bfloat16 already stays. */
static double expected_of(const struct draws *draws, int i, uint64_t seed, uint64_t first)
{
    int up = draws->share[i] + (int)draw_of(seed, first + (uint64_t)i) >= 1 << 16;
    double value = value_of(draws->bits[i] + up);

    value = value == 0x1p128 ? INFINITY : value;
    return i % 2 ? -value : value;
}

EACH_LEVEL(rounding_by_chance_is_its_definition)
{
    static const int64_t firsts[] = {
        0, ROUNDING_GROUP, INT64_C(12345) * ROUNDING_GROUP, (INT64_C(1) << 40) + 3 * ROUNDING_GROUP};
    static struct draws draws;
    static scalar x[COUNT];
    int ups = 0;

    fill(&draws);
    for (int i = 0; i < 4; i++) {
        uint64_t seed = random_bits(2, RANDOM_TEST, (uint64_t)i);
        memcpy(x, draws.x, sizeof(x));
        kernels->round_bfloat16_by_chance(x, COUNT, seed, firsts[i]);
        for (int k = 0; k < COUNT; k++) {
            double expected = expected_of(&draws, k, seed, (uint64_t)firsts[i]);
            ups += fabs(expected) > value_of(draws.bits[k]);
            if (!is(x[k], expected))
                test_fail(__FILE__, __LINE__, "%s: %a becomes %a, not %a", kernels->level, (double)draws.x[k],
                    (double)x[k], expected);
        }
    }
    CHECK(ups > COUNT && ups < 3 * COUNT);
}

/* In parts of any length, from the beginning of a group each, elements have the same draws. */
EACH_LEVEL(rounding_by_chance_in_parts)
{
    static struct draws draws;
    static scalar whole[COUNT], x[COUNT];

    fill(&draws);
    memcpy(whole, draws.x, sizeof(whole));
    kernels->round_bfloat16_by_chance(whole, COUNT, 3, 0);
    for (int64_t part = ROUNDING_GROUP; part < COUNT; part += ROUNDING_GROUP) {
        memcpy(x, draws.x, sizeof(x));
        for (int64_t at = 0; at < COUNT; at += part)
            kernels->round_bfloat16_by_chance(x + at, COUNT - at < part ? COUNT - at : part, 3, at);
        CHECK(memcmp(x, whole, sizeof(x)) == 0);
    }
}

/* Of a number at some share of the distance, so many are rounded up, within 5 standard deviations. */
static void check_share(const struct kernels *kernels, double share, double lower, double upper)
{
    enum { DRAWS = 1 << 20, AT_ONCE = 1 << 12 };
    static scalar x[AT_ONCE];
    int64_t ups = 0, downs = 0;

    for (int64_t at = 0; at < DRAWS; at += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++)
            x[i] = (scalar)(lower + share * (upper - lower));
        kernels->round_bfloat16_by_chance(x, AT_ONCE, 4, at);
        for (int i = 0; i < AT_ONCE; i++) {
            ups += is(x[i], upper);
            downs += is(x[i], lower);
        }
    }
    CHECK(ups + downs == DRAWS);
    CHECK_CLOSE((double)ups / DRAWS, share, 5 * sqrt(share * (1 - share) / DRAWS));
}

TEST(rounding_by_chance_is_right_on_average)
{
    static const int bits[] = {0x0000, 0x0001, 0x0041, 0x007f, 0x0080, 0x3c23, 0x3f80, 0x407f, 0x7f7e};
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);

    for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
        double lower = value_of(bits[i]), upper = value_of(bits[i] + 1);
        check_share(kernels, 0x1p-16, lower, upper);
        check_share(kernels, 0x0.1234p0, lower, upper);
        check_share(kernels, 0.5, lower, upper);
        check_share(kernels, 0x0.ffffp0, lower, upper);
        check_share(kernels, 0, -upper, -lower);
        check_share(kernels, 0.25, -lower, -upper);
    }
}
