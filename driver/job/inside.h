#ifndef NORMSWEEP_DRIVER_JOB_INSIDE_H
#define NORMSWEEP_DRIVER_JOB_INSIDE_H

#include "driver/job/job.h"
#include "driver/search/search.h"

/* The result of a cell has been handed to the dataset. */
void chooser_take(struct chooser *chooser, int64_t cell, enum outcome outcome);

/* Roughly how many more cells chooser_next will give. */
double chooser_left(const struct chooser *chooser);

/* Makes the norms of a run over time from `count` values that were read: of the steps, square has the norms
 * and time has rate_sum; NaN where they were not measured. The curve of a run that ended early is continued
 * to last_step. False: fewer than two norms were measured. */
bool norm_curve_make(const struct run *run, const struct measure *measure, int64_t last_step,
    const int64_t *step, int64_t count, struct norm_curve *curve);

/* Orders that a worker holds besides the one it trains, at most. With many of them, runs of milliseconds do
 * not wait for a coordinator that sleeps between messages or syncs results to the disk, which may take a
 * tenth of a second. The makespan does not grow; the rules for that are in driver/schedule/coordinator.c. */
enum { JOB_ORDERS_AHEAD = 15 };

#endif
