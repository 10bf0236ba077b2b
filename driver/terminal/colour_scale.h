#ifndef NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H
#define NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* Which numbers have which colours, or shades. */
struct colour_scale {
    double low, high; /* where the colours begin and end; low > high: there is nothing to colour */
    bool logarithmic;
    bool below, above; /* finite values lie beyond low, beyond high: they look as those do */
};

/*
 * By all values, what is not finite aside. Logarithmic where all are positive, over more than a factor of
 * 100, and most are far below the largest; never if `linear` says so. A few values that lie ten times as far
 * out as all others are apart have no part in it. False: no memory.
 */
bool colour_scale_choose(struct colour_scale *scale, const double *value, int64_t count, bool linear);

/* From 0, where the colours begin, to 1. */
double colour_scale_place(const struct colour_scale *scale, double value);

/* The value at a place. */
double colour_scale_value(const struct colour_scale *scale, double place);

#endif
