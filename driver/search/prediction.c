/*
 * The weight decay at which parameters neither grow nor shrink, predicted from runs at other decays.
 *
 * With rho = |theta|^2, and h the sum of the learning rates between two measured steps k and k + 1 (or of
 * what decay_rule: corrected puts in their place), decay alone multiplies rho by e^(-2 lambda h). What
 * happens besides is a source, counted in the middle of the interval:
 *
 *     S_k = e^(lambda h_k) (rho_(k+1) - e^(-2 lambda h_k) rho_k).
 *
 * At another decay lambda' it would lead to
 *
 *     rho'_(k+1) = e^(-2 lambda' h_k) rho'_k + e^(-lambda' h_k) S_k.
 *
 * One run says what the source is at its own decay, which is taken to hold for all. Two say how it depends on
 * rho_k, linearly; where both have the same rho_k, as at the start, on lambda. The runs' own decays give the
 * runs' own curves. docs/boundary.md derives this and says how good it is; analysis/normsweep/predicted.py
 * has the same for Python.
 */
#include "driver/search/inside.h"

#include <math.h>

enum { HALVINGS = 60 };

/* No boundary is looked for where decay alone would leave less than e^-MOST of theta. */
#define MOST 1e4

/* Two squares that differ by less, relative to their size, do not say how a source depends on them. */
#define SAME 1e-6

/* Two runs do not say where the boundary is if an error in a square grows by more until the end. */
#define AMPLIFIED_MOST 1e8

/* The source of a run in interval k, times e^(-decay h), with which it enters at another decay. */
static double source_of(const struct norm_curve *run, int64_t k, double h, double decay)
{
    return exp((run->decay - decay) * h) * run->square[k + 1] -
           exp(-(run->decay + decay) * h) * run->square[k];
}

double prediction_growth(const struct norm_curve *first, const struct norm_curve *second, double decay)
{
    double square = first->square[0];

    for (int64_t k = 0; k + 1 < first->count; k++) {
        double h = first->time[k + 1] - first->time[k], source = source_of(first, k, h, decay);
        if (second) { /* at a place between or beyond the squares of the two */
            double apart = second->square[k] - first->square[k];
            double share = fabs(apart) > SAME * first->square[k]
                               ? (square - first->square[k]) / apart
                               : (decay - first->decay) / (second->decay - first->decay);
            source += share * (source_of(second, k, h, decay) - source);
        }
        square = exp(-2 * decay * h) * square + source;
    }
    return square / first->square[0];
}

static double own_growth(const struct norm_curve *run)
{
    return run->square[run->count - 1] / run->square[0];
}

/* The root between a decay that grows and one that does not, in log decay. NaN if a prediction is. */
static double halve(
    const struct norm_curve *first, const struct norm_curve *second, double growth, double low, double high)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high), predicted = prediction_growth(first, second, middle);
        if (isnan(predicted))
            return NAN;
        if (predicted > growth)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* By how much an error in a square has grown at the end. Where the two curves part quickly, their slope
 * gives more at each step than decay takes away: then rounding errors, and noise, decide. */
static double amplification(const struct norm_curve *first, const struct norm_curve *second, double decay)
{
    double grown = 1;

    for (int64_t k = 0; k + 1 < first->count; k++) {
        double h = first->time[k + 1] - first->time[k], apart = second->square[k] - first->square[k];
        double change = source_of(second, k, h, decay) - source_of(first, k, h, decay);
        double slope = fabs(apart) > SAME * first->square[k] ? change / apart : 0;
        grown = fmax(1, grown * fabs(exp(-2 * decay * h) + slope));
    }
    return grown;
}

double prediction_boundary(const struct norm_curve *first, const struct norm_curve *second, double growth)
{
    const struct norm_curve *low = !second || first->decay < second->decay ? first : second;
    const struct norm_curve *high = low == first ? second : first;
    double time = first->time[first->count - 1];

    if (!(own_growth(low) > growth) || !isfinite(own_growth(low)) || !(time > 0))
        return NAN;
    if (second && !(amplification(first, second, first->decay) <= AMPLIFIED_MOST &&
                      amplification(first, second, second->decay) <= AMPLIFIED_MOST))
        return NAN;
    double least = low->decay > 0 ? low->decay : 1e-9 / time;
    if (high && !(own_growth(high) > growth))
        return isfinite(own_growth(high)) ? halve(first, second, growth, least, high->decay) : NAN;
    double grows = high ? high->decay : least, shrinks = 2 * grows;
    while (prediction_growth(first, second, shrinks) > growth && shrinks * time < MOST) {
        grows = shrinks;
        shrinks *= 2;
    }
    return prediction_growth(first, second, shrinks) <= growth ? halve(first, second, growth, grows, shrinks)
                                                               : NAN;
}
