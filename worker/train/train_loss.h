#ifndef NORMSWEEP_WORKER_TRAIN_TRAIN_LOSS_H
#define NORMSWEEP_WORKER_TRAIN_TRAIN_LOSS_H

#include "worker/train/trainer.h"

/*
 * Fill t->batch with the batch of step `number` and return its loss at theta, summed over the gang that
 * shares the batch, if there is one. train_gradient also overwrites t->gradient with the gradient.
 */
double train_gradient(struct trainer *t, int64_t number);
double train_loss(struct trainer *t, int64_t number);

/* The same with the Hessian's product with a direction, a plane, in t->gradient. */
void train_hessian_product(struct trainer *t, int64_t number, const scalar *direction);

#endif
