/*
 * Random numbers without a state: philox() scrambles (seed, purpose, index) into a block of 128 bits, and
 * each function makes its number of one block. So draws can be made in any order, on any rank, and again
 * after a crash. Kernels make the same numbers many at a time (model/kernels/random_words.h). Nothing fails.
 */
#include "model/core/random.h"

#include <math.h>

struct random_block {
    uint32_t word[4];
};

static struct random_block philox(uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    struct random_block x = {{(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)purpose, 0}};
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);

    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t product0 = (uint64_t)PHILOX_MULTIPLIER_0 * x.word[0];
        uint64_t product2 = (uint64_t)PHILOX_MULTIPLIER_2 * x.word[2];
        x = (struct random_block){{(uint32_t)(product2 >> 32) ^ x.word[1] ^ key0, (uint32_t)product2,
            (uint32_t)(product0 >> 32) ^ x.word[3] ^ key1, (uint32_t)product0}};
        key0 += PHILOX_WEIGHT_0;
        key1 += PHILOX_WEIGHT_1;
    }
    return x;
}

static double unit(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

uint64_t random_bits(uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    struct random_block x = philox(seed, purpose, index);
    return (uint64_t)x.word[0] << 32 | x.word[1];
}

double random_uniform(uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    struct random_block x = philox(seed, purpose, index);
    return unit(x.word[0], x.word[1]);
}

double random_normal(uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    struct random_block x = philox(seed, purpose, index);
    double radius = sqrt(-2 * log1p(-unit(x.word[0], x.word[1]))); /* 1 - u is never 0 */
    return radius * cos(2 * 3.14159265358979323846 * unit(x.word[2], x.word[3]));
}

uint64_t random_below(uint64_t seed, enum random_purpose purpose, uint64_t index, uint64_t bound)
{
    return random_share(random_bits(seed, purpose, index), bound);
}
