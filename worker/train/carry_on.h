#ifndef NORMSWEEP_WORKER_TRAIN_CARRY_ON_H
#define NORMSWEEP_WORKER_TRAIN_CARRY_ON_H

#include "worker/train/trainer.h"

/* The contents of a checkpoint at `step`. Updates the times of the result. */
struct snapshot train_snapshot(struct trainer *t, int64_t step);

/* Asks the observer before a step, or during one, and obeys. False: the run stops here. */
bool train_carry_on(struct trainer *t, int64_t step);

#endif
