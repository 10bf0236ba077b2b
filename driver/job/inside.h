#ifndef NORMSWEEP_DRIVER_JOB_INSIDE_H
#define NORMSWEEP_DRIVER_JOB_INSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/job/job.h"
#include "driver/search/search.h"

/* The result of a cell has been handed to the dataset. */
void chooser_take(struct chooser *chooser, int64_t cell, enum outcome outcome);

/* Roughly how many more cells chooser_next will give. */
double chooser_left(const struct chooser *chooser);

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

/* Orders that a worker holds besides the one it trains, at most. With many of them, runs of milliseconds do
 * not wait for a coordinator that sleeps between messages or syncs results to the disk, which may take a
 * tenth of a second. The makespan does not grow; the rules for that are in driver/schedule/assignment.c. */
enum { JOB_ORDERS_AHEAD = 15 };

#endif
