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

/* Has the run a course, as far as its parameters tell? */
bool course_is_of(const struct run *run);

/* The same from `count` values that were read: of the steps, square has the norms and time has rate_sum; NaN
 * where they were not measured. Returns *known. */
bool course_make(const struct run *run, const int64_t *step, int64_t count, struct course *course);

#endif
