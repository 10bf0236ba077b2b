#ifndef NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H
#define NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* Maps numbers to positions on a scale of colours or shades. */
struct colour_scale {
    double low, high; /* values of the first and last colour; low > high: there are no values */
    bool logarithmic;
    bool below, above; /* there are finite values below low, above high; they get the end's colour */
};

/*
 * Chooses a scale for the finite ones of the values. It is logarithmic if all are positive, span more than a
 * factor of 100, and most are far below the largest; never if `linear` is set. A few outliers, more than ten
 * times the range of the others away, are ignored. False: no memory.
 */
bool colour_scale_choose(struct colour_scale *scale, const double *value, int64_t count, bool linear);

/* The position of a value on the scale: 0 at low, 1 at high, clamped. */
double colour_scale_place(const struct colour_scale *scale, double value);

/* The value at a position of 0 to 1. */
double colour_scale_value(const struct colour_scale *scale, double place);

#endif
