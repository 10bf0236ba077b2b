#ifndef NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H
#define NORMSWEEP_DRIVER_TERMINAL_COLOUR_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers that a scale is for. */
enum colour_numbers {
    NUMBERS_ANY,
    NUMBERS_LINEAR, /* shares: never on a logarithmic scale */
    NUMBERS_FACTORS, /* growth: around 1 */
};

/* Maps numbers to positions on a scale of colours or shades, as the figures of analysis/ do. */
struct colour_scale {
    double low, high; /* values of the first and last colour; low > high: there are no values */
    bool logarithmic;
    bool diverging; /* around 0, or around 1 if logarithmic, with the same range on both sides */
    double
        knee; /* diverging: distance from the middle up to which the scale is linear; INFINITY: all of it */
    bool below, above; /* there are finite values below low, above high; they get the end's colour */
};

/*
 * Chooses a scale for the finite ones of the values, so that a few extreme ones do not make all others look
 * alike. Numbers of both signs and factors get a diverging scale that ends where 98 % of them lie. Others get
 * a logarithmic scale if all are positive and span more than a factor of 30; outliers are left out if they
 * make the range more than three times that of the others.
 */
void colour_scale_choose(
    struct colour_scale *scale, const double *value, int64_t all, enum colour_numbers numbers);

/* The position of a value on the scale: 0 at low, 1 at high, clamped. */
double colour_scale_place(const struct colour_scale *scale, double value);

/* The value at a position of 0 to 1. */
double colour_scale_value(const struct colour_scale *scale, double place);

#endif
