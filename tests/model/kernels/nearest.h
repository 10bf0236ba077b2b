#ifndef NORMSWEEP_TESTS_MODEL_KERNELS_NEAREST_H
#define NORMSWEEP_TESTS_MODEL_KERNELS_NEAREST_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model/kernels/kernels.h"

/* The bfloat16 number nearest to x, of two the one whose last bit is 0; below float's normal numbers 0. */
static inline double nearest(double x)
{
    const uint64_t unit = (uint64_t)1 << 45; /* in the last of 8 digits: double has 53 */
    uint64_t bits;

    if (isnan(x) || isinf(x) || fabs(x) < 0x1p-126)
        return isnan(x) || isinf(x) ? x : copysign(0, x);
    memcpy(&bits, &x, sizeof(bits));
    uint64_t rest = bits % unit, below = bits - rest;
    if (rest > unit / 2 || (rest == unit / 2 && below / unit % 2 == 1))
        below += unit;
    memcpy(&x, &below, sizeof(x));
    return fabs(x) >= 0x1p128 ? copysign(INFINITY, x) : x;
}

/* What a product of this precision reads of a scalar. */
static inline double factor_of(enum precision precision, double x)
{
    return precision == PRECISION_BFLOAT16 ? nearest(x) : x;
}

#endif
