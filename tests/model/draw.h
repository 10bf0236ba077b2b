#ifndef NORMSWEEP_TESTS_MODEL_DRAW_H
#define NORMSWEEP_TESTS_MODEL_DRAW_H

#include "model/core/random.h"
#include "model/core/scalar.h"
#include "tests/test.h"

/* Normal numbers times `scale`, the same for the same seed. */
static inline void draw(scalar *x, int64_t count, double scale, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (scalar)(scale * random_normal(seed, RANDOM_TEST, (uint64_t)i));
}

static inline double dot(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

#endif
