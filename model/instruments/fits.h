#ifndef NORMSWEEP_MODEL_INSTRUMENTS_FITS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_FITS_H

#include <stdint.h>

/* The least squares of y = a + b x: b, the standard error of b from the residuals, and R^2. */
struct straight {
    double slope, slope_error, r2;
};

/* Fits of fewer points than this are NaN. */
enum { STRAIGHT_POINTS = 4 };

struct straight straight_fit(const double *x, const double *y, int64_t count);

/*
 * The growth law of one run, from its norms [count] at the measured steps [count], ascending from 0: the
 * exponent p of |theta_t|^2 - |theta_0|^2 ~ t^(2p) over the steps where the difference is positive, and R^2
 * of the straight fits of |theta_t| against sqrt(t), t, t^(1/4) and exp(-t/t_end). A fit of fewer than
 * STRAIGHT_POINTS points is NaN.
 */
struct growth {
    double exponent, exponent_error, exponent_r2;
    double sqrt_r2, linear_r2, fourth_root_r2, exponential_r2;
};

/* scratch: [2 * count]. */
void growth_fit(
    const int64_t *step, const double *norm, int64_t count, double *scratch, struct growth *growth);

#endif
