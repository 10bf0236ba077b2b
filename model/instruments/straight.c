#include "model/instruments/straight.h"

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
