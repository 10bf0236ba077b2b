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

TEST(random_moments)
{
    const int count = 1000000;
    double sum = 0, square = 0, uniform = 0;

    for (int i = 0; i < count; i++) {
        double x = random_normal(7, RANDOM_TEST, (uint64_t)i);
        sum += x;
        square += x * x;
        uniform += random_uniform(7, RANDOM_TEST, (uint64_t)i);
    }
    CHECK_CLOSE(sum / count, 0, 5e-3);
    CHECK_CLOSE(square / count, 1, 8e-3);
    CHECK_CLOSE(uniform / count, 0.5, 2e-3);
}
