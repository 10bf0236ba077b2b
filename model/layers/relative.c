/*
 * Biases of scores by distance, as T5 has them: distances fall into buckets, near ones each into its own,
 * far ones into wider and wider ones.
 */
#include "model/layers/layers.h"

#include <string.h>

/*
 * The least distances of the logarithmic buckets: with n exact buckets and n logarithmic ones, that of the
 * logarithmic bucket i is the least integer that is not below n (128 / n)^(i / n). Whole numbers, so that no
 * rounding of logarithms decides.
 */
static const int16_t one_sided_least[] = {
    16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113, INT16_MAX};
static const int16_t two_sided_least[] = {8, 12, 16, 23, 32, 46, 64, 91, INT16_MAX};

int64_t relative_stride(int64_t context)
{
    int64_t needed = 2 * context - 1 + ATTENTION_LANES - 1;

    return (needed + ATTENTION_LANES - 1) / ATTENTION_LANES * ATTENTION_LANES;
}

int64_t relative_bucket(int64_t distance, bool two_sided)
{
    const int16_t *least = two_sided ? two_sided_least : one_sided_least;
    int64_t first = two_sided && distance < 0 ? RELATIVE_BUCKETS / 2 : 0;
    int64_t size = distance >= 0 ? distance : two_sided ? -distance : 0, logarithmic = 0;

    if (size < least[0])
        return first + size;
    size = size < RELATIVE_REACH ? size : RELATIVE_REACH;
    while (size >= least[logarithmic + 1])
        logarithmic++;
    return first + least[0] + logarithmic;
}

void relative_spread(scalar *bias, const scalar *table, int64_t heads, int64_t context, bool two_sided)
{
    int64_t stride = relative_stride(context), reach = context - 1;

    memset(bias, 0, (size_t)(heads * stride) * sizeof(*bias));
    for (int64_t distance = -reach; distance <= reach; distance++) {
        const scalar *row = table + relative_bucket(distance, two_sided) * heads;
        for (int64_t h = 0; h < heads; h++)
            bias[h * stride + distance + reach] = row[h];
    }
}

void relative_gather(scalar *dtable, const scalar *dbias, int64_t heads, int64_t context, bool two_sided)
{
    int64_t stride = relative_stride(context), reach = context - 1;

    for (int64_t h = 0; h < heads; h++) {
        double sums[RELATIVE_BUCKETS] = {0};
        for (int64_t distance = -reach; distance <= reach; distance++)
            sums[relative_bucket(distance, two_sided)] += (double)dbias[h * stride + distance + reach];
        for (int64_t bucket = 0; bucket < RELATIVE_BUCKETS; bucket++)
            dtable[bucket * heads + h] = (scalar)sums[bucket];
    }
}
