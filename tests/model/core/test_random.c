#include "tests/test.h"

#include "model/core/random.h"

/* Known answer of philox4x32-10 for counter 0, key 0 (Random123's kat_vectors): 6627e8d5 e169c58d bc57ac4c
 * 9b00dbd8. */
TEST(random_philox_known_answer)
{
    CHECK(random_bits(0, (enum random_purpose)0, 0) == 0x6627e8d5e169c58dULL);
}

/* Every word of seed, purpose and index matters. */
TEST(random_streams_differ)
{
    uint64_t here = random_bits(1, RANDOM_TEST, 2);

    CHECK(here != random_bits(2, RANDOM_TEST, 1) && here != random_bits(1, RANDOM_INIT, 2));
    CHECK(here != random_bits(1, RANDOM_TEST, 2 + (UINT64_C(1) << 32)));
    CHECK(here != random_bits(1 + (UINT64_C(1) << 32), RANDOM_TEST, 2));
    CHECK(here == random_bits(1, RANDOM_TEST, 2));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of N(0, 1). */
static double distribution(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* Kolmogorov's statistic exceeds 2 once in 1500 draws of the right distribution. */
TEST(random_normal_distribution)
{
    enum { COUNT = 100000 };
    static double x[COUNT];

    for (uint64_t seed = 0; seed < 4; seed++) {
        double most = 0;
        for (int i = 0; i < COUNT; i++)
            x[i] = random_normal(seed, RANDOM_TEST, (uint64_t)i);
        qsort(x, COUNT, sizeof(*x), compare);
        for (int i = 0; i < COUNT; i++) {
            double below = distribution(x[i]) - i / (double)COUNT, above = 1.0 / COUNT - below;
            most = below > most ? below : most;
            most = above > most ? above : most;
        }
        CHECK(most > 0 && most * sqrt(COUNT) < 2);
    }
}

/* Draws that lie beside each other in any of the three are uncorrelated: within 4.5 standard deviations. */
TEST(random_normal_correlations)
{
    const int count = 200000;
    double index = 0, tensor = 0, seed = 0, half = 0;

    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        double x = random_normal(7, RANDOM_TEST, i);
        index += x * random_normal(7, RANDOM_TEST, i + 1);
        tensor += x * random_normal(7, RANDOM_TEST, i + (UINT64_C(1) << 40));
        seed += x * random_normal(8, RANDOM_TEST, i);
        half += x * random_normal(7, RANDOM_TEST, i + (UINT64_C(1) << 32));
    }
    CHECK_CLOSE(index / sqrt(count), 0, 4.5);
    CHECK_CLOSE(tensor / sqrt(count), 0, 4.5);
    CHECK_CLOSE(seed / sqrt(count), 0, 4.5);
    CHECK_CLOSE(half / sqrt(count), 0, 4.5);
}
