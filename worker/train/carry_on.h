#ifndef NORMSWEEP_WORKER_TRAIN_CARRY_ON_H
#define NORMSWEEP_WORKER_TRAIN_CARRY_ON_H

#include "worker/train/trainer.h"

/* What a checkpoint at `step` is to hold. The times of the result are brought up to date. */
struct snapshot train_snapshot(struct trainer *t, int64_t step);

/* Does what the observer wants before a step, or amid it. False: the run stops here. */
bool train_carry_on(struct trainer *t, int64_t step);

#endif
