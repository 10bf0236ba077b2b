#ifndef NORMSWEEP_WORKER_RUN_COST_H
#define NORMSWEEP_WORKER_RUN_COST_H

#include <stdint.h>

#include "model/corpora/corpus.h"
#include "worker/run/measure.h"
#include "worker/run/run.h"

/*
 * Floating-point operations of one training step's matrix products: 6 (block weights + V C) B T + 6 L T C B
 * T, the causal half of attention counted.
 */
double train_step_arithmetic(const struct run *run, int64_t vocabulary);

/* What one training step and a whole run cost, in floating-point operations of matrix products and what takes
 * as long as so many: the cost model of longest-first and of plans. */
double train_step_cost(const struct run *run, int64_t vocabulary);
double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure);

#endif
