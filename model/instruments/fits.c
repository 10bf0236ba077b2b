/*
 * Straight lines by least squares, and the growth law of a run from such lines. Instruments call straight_fit
 * on their own logarithms; the end of a run calls growth_fit once on its measured norms. All sums are double,
 * and the mean comes off first, so that long runs lose no digits. Fits of fewer than STRAIGHT_POINTS points
 * are NaN; nothing else can fail.
 */
#include "model/instruments/instruments.h"

#include <math.h>

struct straight straight_fit(const double *x, const double *y, int64_t count)
{
    double n = (double)count, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0, residual = 0;

    if (count < STRAIGHT_POINTS)
        return (struct straight){NAN, NAN, NAN};
    for (int64_t i = 0; i < count; i++) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (int64_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    double slope = xy / xx;
    for (int64_t i = 0; i < count; i++) {
        double rest = y[i] - mean_y - slope * (x[i] - mean_x);
        residual += rest * rest;
    }
    return (struct straight){slope, sqrt(residual / (n - 2) / xx), 1 - residual / yy};
}

void growth_fit(
    const int64_t *step, const double *norm, int64_t count, double *scratch, struct growth *growth)
{
    double *x = scratch, *y = scratch + count, last = (double)step[count - 1];
    int64_t points = 0;

    /* The exponent is half the slope of the logarithms, over points above 0. */
    for (int64_t i = 0; i < count; i++) {
        double gained = (norm[i] - norm[0]) * (norm[i] + norm[0]);
        if (step[i] > 0 && gained > 0) {
            x[points] = log((double)step[i]);
            y[points++] = log(gained);
        }
    }
    struct straight fit = straight_fit(x, y, points);
    growth->exponent = fit.slope / 2;
    growth->exponent_error = fit.slope_error / 2;
    growth->exponent_r2 = fit.r2;

    for (int64_t i = 0; i < count; i++)
        x[i] = sqrt((double)step[i]);
    growth->sqrt_r2 = straight_fit(x, norm, count).r2;
    for (int64_t i = 0; i < count; i++)
        x[i] = (double)step[i];
    growth->linear_r2 = straight_fit(x, norm, count).r2;
    for (int64_t i = 0; i < count; i++)
        x[i] = sqrt(sqrt((double)step[i]));
    growth->fourth_root_r2 = straight_fit(x, norm, count).r2;
    for (int64_t i = 0; i < count; i++)
        x[i] = exp(-(double)step[i] / last);
    growth->exponential_r2 = straight_fit(x, norm, count).r2;
}
