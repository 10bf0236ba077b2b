#ifndef NORMSWEEP_TESTS_MODEL_KERNELS_DRAWS_H
#define NORMSWEEP_TESTS_MODEL_KERNELS_DRAWS_H

#include "model/core/random.h"
#include "model/core/scalar.h"

/* The error of a kernel's result of size 1. */
static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 4e-6;

enum { COUNT = 1337 };

/* COUNT normal numbers, the same for the same seed. */
static inline void draw(scalar *x, double scale, uint64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (scalar)(scale * random_normal(seed, RANDOM_TEST, (uint64_t)i));
}

#endif
