#ifndef NORMSWEEP_DRIVER_BOUNDARY_SLOPE_H
#define NORMSWEEP_DRIVER_BOUNDARY_SLOPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The slope of a boundary over an axis, both in logarithms, with an interval that covers the true slope with
 * a probability of about 95 %. slope.c says where the interval comes from.
 */

/* The logarithms of boundaries at `places` values of an axis, each from `seeds` runs. */
struct slope_data {
    int64_t places, seeds;
    const double *x; /* [places] of the axis */
    const double *y, *low, *high; /* [places][seeds] boundary and its bracket; NaN in y: none */
};

struct slope {
    double slope; /* NaN with boundaries at fewer than two places */
    double low, high; /* NaN: the data do not say */
};

/* Do the seeds tell the spread between them? At least two need boundaries at two places or more. known: the
 * number of places where each seed has one. */
bool slope_has_spread(const int64_t *known, int64_t seeds);

/* -1: no memory. */
int slope_fit(const struct slope_data *data, struct slope *slope);

/* The number that a variable of Student's distribution stays below with a probability of 97.5 %; freedom: 1
 * and more. */
double slope_student(int64_t freedom);

#endif
