#ifndef NORMSWEEP_MODEL_INSTRUMENTS_INSIDE_H
#define NORMSWEEP_MODEL_INSTRUMENTS_INSIDE_H

#include <math.h>
#include <stdint.h>

#include "model/core/random.h"
#include "model/instruments/instruments.h"
#include "model/kernels/kernels.h"

/* a.b of vectors in double, in any order of the terms. */
static inline double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Tensor `at` of the tensors of all layers, [blocks][LAYER_TENSOR_COUNT]. */
static inline const struct tensor *layer_tensor(const struct weight_layout *layout, int64_t at)
{
    return &layout->tensor[LAYER_TENSOR_FIRST + at];
}

/* cos(a, b) from a.b, |a|^2 and |b|^2: 0 if a or b is 0, NaN if a or b has NaN. */
static inline double cosine(double product, double a_square, double b_square)
{
    if (a_square == 0 || b_square == 0)
        return 0;
    return product / (sqrt(a_square) * sqrt(b_square));
}

#endif
