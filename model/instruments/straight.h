#ifndef NORMSWEEP_MODEL_INSTRUMENTS_STRAIGHT_H
#define NORMSWEEP_MODEL_INSTRUMENTS_STRAIGHT_H

#include <stdint.h>

/* The least squares of y = a + b x: b, the standard error of b from the residuals, and R^2. */
struct straight {
    double slope, slope_error, r2;
};

/* Fits of fewer points than this are NaN. */
enum { STRAIGHT_POINTS = 4 };

struct straight straight_fit(const double *x, const double *y, int64_t count);

#endif
