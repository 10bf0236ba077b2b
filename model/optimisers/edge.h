#ifndef NORMSWEEP_MODEL_OPTIMISERS_EDGE_H
#define NORMSWEEP_MODEL_OPTIMISERS_EDGE_H

#include <stdbool.h>

#include "model/optimisers/optimiser.h"

/*
 * The edge of stability: an optimiser with the preconditioner P, P = 1 for sgd, is stable on a quadratic loss
 * with the Hessian H as long as the largest eigenvalue of P^-1 H is below a bound over the learning rate.
 * Cohen, Ghorbani and others, "Adaptive gradient methods at the edge of stability" (2022).
 */

/* The bound times the learning rate: (2 + 2 beta1) / (1 - beta1) for adam and adamw, 2 + 2 momentum for sgd;
 * NaN for optimisers that have none. Weight decay is left out, also adam's, which is a part of its gradient
 * and so of its P; and so is a gradient_clip. */
double edge_bound(const struct optimiser_options *options);

/* Does the optimiser have a P other than 1? */
bool edge_has_preconditioner(const struct optimiser_options *options);

/*
 * root, a plane, = P^-1/2 after `steps` > 0 steps: P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon),
 * over hidden_rate for the matrices of the layers.
 * 0 where v is 0: a parameter that has had no gradient so far is left out.
 */
void edge_root(const struct optimiser *optimiser, int64_t steps, scalar *root);

#endif
