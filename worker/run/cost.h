#ifndef NORMSWEEP_WORKER_RUN_COST_H
#define NORMSWEEP_WORKER_RUN_COST_H

#include <stdint.h>

#include "model/corpora/corpus.h"
#include "worker/run/measure.h"
#include "worker/run/run.h"

/*
 * Floating-point operations of one training step's matrix products, with B T tokens on either side: for each,
 * 6 for each weight of a matrix that it passes, and 12 C for each position that it sees in each block; under
 * a causal mask, half of the positions count.
 */
double train_step_arithmetic(const struct run *run, int64_t vocabulary);

/*
 * The cost of one training step and of a whole run, in floating-point operations of matrix products that take
 * as long. The schedule (longest first) and `plan` use this model.
 */
double train_step_cost(const struct run *run, int64_t vocabulary);
double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure);

/* Products with the Hessian that one measurement takes at most, each as long as three gradients. */
double train_hessian_products(const struct run *run, const struct measure *measure);

/*
 * One measurement of Lyapunov exponents: forward passes of one sequence, whose draw counts as a pass through
 * a block; and elements of tangents, each for each other tangent that it is made orthogonal to. So the time
 * has a part that grows with the number of exponents and one that grows with its square.
 */
struct lyapunov_work {
    double passes, products;
};

struct lyapunov_work train_lyapunov_work(const struct run *run, const struct measure *measure);

#endif
