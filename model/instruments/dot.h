#ifndef NORMSWEEP_MODEL_INSTRUMENTS_DOT_H
#define NORMSWEEP_MODEL_INSTRUMENTS_DOT_H

#include <stdint.h>

/* a.b of vectors in double, in any order of the terms. */
static inline double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

#endif
