#ifndef NORMSWEEP_DRIVER_JOB_DISPLAY_H
#define NORMSWEEP_DRIVER_JOB_DISPLAY_H

#include "driver/dataset/dataset.h"
#include "driver/job/progress.h"

/*
 * The progress display of an open dataset, with a map of its grid on a terminal. *growth: norm_growth [cells]
 * of the runs that have ended, NaN: unknown, which the map shows and the caller keeps up to date and frees
 * after the display; NULL without a map, or if it cannot be read: the map then lacks earlier starts. NULL: no
 * memory.
 */
struct progress *display_new(
    const struct sweep *sweep, const struct dataset *dataset, int workers, double now, double **growth);

#endif
