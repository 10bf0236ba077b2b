#ifndef NORMSWEEP_WORKER_TRAIN_BY_STACK_H
#define NORMSWEEP_WORKER_TRAIN_BY_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "model/network/architecture.h"
#include "worker/run/metric.h"

/*
 * From the blocks of a network, counted through all stacks, the encoder's first, to the places of a metric,
 * [stack][layer][...]. A metric over depths has one more in each stack, its input, in front of its blocks: so
 * do the numbers that count them here. Places beyond a stack's own blocks are left as they are.
 */

/* Where the values of block, or depth, number `at` lie; `values` is where those of the metric begin. */
double *by_stack_place(double *values, enum metric metric, const struct metric_form *form,
    const struct architecture *architecture, int64_t at);

/* Puts from[blocks][per] to their places: of each block's values the first ones, as many as the metric has.
 */
void by_stack_put(double *values, enum metric metric, const struct metric_form *form,
    const struct architecture *architecture, const double *from, size_t per);

#endif
