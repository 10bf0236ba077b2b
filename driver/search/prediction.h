#ifndef NORMSWEEP_DRIVER_SEARCH_PREDICTION_H
#define NORMSWEEP_DRIVER_SEARCH_PREDICTION_H

#include <stdint.h>

/*
 * The weight decay at which parameters neither grow nor shrink, predicted from runs at other decays.
 *
 * With rho = |theta|^2, and h the sum of the learning rates between two measured steps k and k + 1, decay
 * alone multiplies rho by e^(-2 lambda h). What updates add on top, with half of that decay,
 *
 *     S_k = e^(lambda h_k) (rho_(k+1) - e^(-2 lambda h_k) rho_k),
 *
 * is taken not to depend on lambda (one run), or to be linear in it (two runs). Then
 *
 *     rho'_(k+1) = e^(-2 lambda' h_k) rho'_k + e^(-lambda' h_k) S_k(lambda')
 *
 * is the course at another decay lambda'. From the runs' own decays it gives their own courses. Source: the
 * balance |theta'|^2 - |theta|^2 = -(2 eta lambda - eta^2 lambda^2)|theta|^2 + ..., docs/boundary.md.
 */

/* The norm of one run over its measured steps. */
struct course {
    int64_t count; /* measured steps, the first of them 0 */
    double decay; /* lambda: a step at rate eta without an update leaves 1 - eta lambda of theta */
    double *square; /* [count] |theta|^2 */
    double *time; /* [count] sum of the learning rates of the steps before */
};

/*
 * rho at the last step of a run at `decay`, over rho at its first. `second` NULL: from one run; else two runs
 * with the same measured steps and different decays. NaN where a course has a value that is not finite.
 */
double prediction_growth(const struct course *first, const struct course *second, double decay);

/*
 * The decay at which prediction_growth is `growth`, 1 for the boundary of norm growth: between those of the
 * two runs if one grows more and the other does not, else above the larger one. NaN where the run of the
 * smaller decay does not grow more, or none is found.
 */
double prediction_boundary(const struct course *first, const struct course *second, double growth);

#endif
