#ifndef NORMSWEEP_DRIVER_JOB_COURSE_H
#define NORMSWEEP_DRIVER_JOB_COURSE_H

#include <stdbool.h>

#include "driver/dataset/dataset.h"
#include "driver/search/prediction.h"

/*
 * Reads the norms of a run over its measured steps. `course` has room for dataset_steps values. *known false:
 * fewer than two norms were measured, the weights of the layers do not decay alike (run_even_decay), or the
 * run may have ended early. -1 with the error of the dataset.
 */
int course_read(const struct sweep *sweep, struct dataset *dataset, int64_t cell, struct course *course,
    bool *known, struct error *error);

#endif
