#ifndef NORMSWEEP_WORKER_TRAIN_TRAIN_PROBE_H
#define NORMSWEEP_WORKER_TRAIN_TRAIN_PROBE_H

#include "worker/train/trainer.h"

/*
 * Measurements at theta_t that take passes of their own over training batches, beside the one of the step:
 * the groups gradients, hessian, residual and lyapunov. They come before the row of the step begins.
 */

void train_probe_layout(struct trainer *t, struct arena *arena);

/*
 * Measures at theta_t; overwrites the batch and the plane of the gradient. It may take long, so the observer
 * is asked between passes. False: it stopped the run; as nothing of the step was done yet, a checkpoint saved
 * then is that of the run before the step.
 */
bool train_probe(struct trainer *t, int64_t step);

/* Puts the results into the row under way, and counts them: a measurement may be repeated by a run that was
 * stopped before its row. */
void train_put_probe(const struct trainer *t, int64_t step);

#endif
