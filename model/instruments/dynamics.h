#ifndef NORMSWEEP_MODEL_INSTRUMENTS_DYNAMICS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_DYNAMICS_H

#include <stdint.h>

#include "model/optimisers/optimiser.h"

/*
 * The direction of the updates, inferred from the norms of a run alone. Recursions of the norm n over the
 * steps, with the learning rate eta of each step and the decay lambda, are fitted to the measured norms.
 */
enum dynamics {
    DYNAMICS_NONE, /* undecided: the best R^2 is below DYNAMICS_R2_LEAST, or another recursion fits as well */
    DYNAMICS_ALIGNED, /* along theta: n' = (1 - eta lambda + k eta) n */
    DYNAMICS_MISALIGNED, /* across theta, length ~ n: n'^2 = ((1 - eta lambda)^2 + k^2 eta^2) n^2 */
    DYNAMICS_RELATIVE, /* one of the two above: at a constant rate they are the same curve */
    DYNAMICS_ADAM_LIKE, /* across theta, constant length: n'^2 = (1 - eta lambda)^2 n^2 + a eta^2 */
    DYNAMICS_COUNT
};

/* The least share of the norms' variance that a recursion must explain to be chosen. */
#define DYNAMICS_R2_LEAST 0.5

/* One fit. NaN with fewer than 4 measured steps, or if a norm is not finite or the first norm is 0. */
struct recursion_fit {
    double parameter; /* k of any sign, k >= 0, a >= 0: least squares in n over the measured steps */
    double *norm; /* [count] n at the measured steps with that parameter; the caller's, or NULL */
    double r2; /* against the mean of n; NaN if n is constant */
    double aic; /* lower is better; comparable among the fits of one run */
};

struct dynamics_fit {
    struct recursion_fit aligned, misaligned, adam_like;
    enum dynamics best; /* the fit with the lowest aic; others fit as well if theirs is less than 2 above */
};

/*
 * Fits all recursions. step, norm [count]: the measured steps, ascending from 0, and their norms. decay:
 * lambda of the recursions; 0 for a decay that is part of an update which is then normalised. Takes some
 * dozen passes over the steps of the run. The caller sets the three `norm` of *fit first.
 */
void dynamics_fit(const struct schedule *schedule, double decay, const int64_t *step, const double *norm,
    int64_t count, struct dynamics_fit *fit);

#endif
