#ifndef NORMSWEEP_WORKER_RUN_INSIDE_H
#define NORMSWEEP_WORKER_RUN_INSIDE_H

#include <stdint.h>

#include "worker/run/run.h"

/*
 * Floating-point operations of one training step's matrix products, with B T tokens on either side: for each,
 * 6 for each weight of a matrix that it passes, and 12 C for each position that it sees in each block; under
 * a causal mask, half of the positions count.
 */
double train_step_arithmetic(const struct run *run, int64_t vocabulary);

/* Do the sequences exist and fit the context? 0, or -1 as run_check. */
int run_check_reading(const struct run *run, const struct param **at, struct error *error);

#endif
