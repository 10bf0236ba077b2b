#ifndef NORMSWEEP_DRIVER_DATASET_READ_H
#define NORMSWEEP_DRIVER_DATASET_READ_H

#include "driver/dataset/dataset.h"

/* The number of steps that the dataset has. */
int64_t dataset_steps(const struct dataset *dataset);

/* Their numbers [dataset_steps], ascending. */
const int64_t *dataset_step_numbers(const struct dataset *dataset);

/*
 * Reads values that were written, also those that wait for a commit: `metric` is one number of the whole run
 * (1 value) or of a step (dataset_steps values, NaN at steps that the run does not measure). NaN where the
 * dataset has none. On failure -1.
 */
int dataset_read(
    struct dataset *dataset, int64_t cell, enum metric metric, double *values, struct error *error);

#endif
