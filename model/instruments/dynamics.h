#ifndef NORMSWEEP_MODEL_INSTRUMENTS_DYNAMICS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_DYNAMICS_H

#include <stdint.h>

#include "model/optimisers/optimiser.h"

/*
 * Which way the updates point, told from the norms of a run alone: recursions of the norm n over the steps,
 * with the learning rate eta of each and the decay lambda, fitted to the norms that were measured.
 */
enum dynamics {
    DYNAMICS_NONE, /* not to be told: the best fit has an R^2 below DYNAMICS_R2_LEAST, or another fits as well
                    */
    DYNAMICS_ALIGNED, /* along theta: n' = (1 - eta lambda + k eta) n */
    DYNAMICS_MISALIGNED, /* across it, as long as theta: n'^2 = ((1 - eta lambda)^2 + k^2 eta^2) n^2 */
    DYNAMICS_RELATIVE, /* one of those two: at a constant rate they are the same curve */
    DYNAMICS_ADAM_LIKE, /* across it, of one length: n'^2 = (1 - eta lambda)^2 n^2 + a eta^2 */
    DYNAMICS_COUNT
};

/* A recursion that explains less of the norms' variance explains nothing. */
#define DYNAMICS_R2_LEAST 0.5

/* One recursion. NaN with fewer than 4 measured steps, and for norms that are not finite or begin with 0. */
struct recursion_fit {
    double parameter; /* k of any sign, k >= 0, a >= 0: the least squares in n over the measured steps */
    double r2; /* against the mean of n; NaN where n is constant */
    double aic; /* lower is better, comparable among the fits of one run */
};

struct dynamics_fit {
    struct recursion_fit aligned, misaligned, adam_like;
    enum dynamics best; /* of the lowest aic, by 2 at least: nearer ones fit as well */
};

/*
 * norms at the measured steps [count], ascending, the first of them 0. decay: lambda of the recursions, 0
 * where it is coupled into an update that is normalised. Takes some dozen passes over the steps of the run.
 */
void dynamics_fit(const struct schedule *schedule, double decay, const int64_t *step, const double *norm,
    int64_t count, struct dynamics_fit *fit);

#endif
