#ifndef NORMSWEEP_DRIVER_SEARCH_PREDICTION_H
#define NORMSWEEP_DRIVER_SEARCH_PREDICTION_H

#include <stdint.h>

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
 * runs' own courses. docs/boundary.md derives this and says how good it is; analysis/normsweep/predicted.py
 * has the same for Python.
 */

/* The norm of one run over its measured steps. */
struct course {
    int64_t count; /* measured steps, the first of them 0 */
    double decay; /* lambda: a step of time h without an update leaves 1 - h lambda of theta */
    double *square; /* [count] |theta|^2 */
    double *time; /* [count] sum over the steps before of run_decay_time: of the learning rates, as a rule */
};

/*
 * rho at the last step of a run at `decay`, over rho at its first. `second` NULL: from one run; else two runs
 * with the same measured steps and different decays. NaN where a course has a value that is not finite.
 */
double prediction_growth(const struct course *first, const struct course *second, double decay);

/*
 * The decay at which prediction_growth is `growth`, 1 for the boundary of norm growth: between those of the
 * two runs if one grows more and the other does not, else above the larger one. NaN where the run of the
 * smaller decay does not grow more, a course has a value that is not finite, errors would grow too
 * much, or none is found.
 */
double prediction_boundary(const struct course *first, const struct course *second, double growth);

#endif
