#ifndef NORMSWEEP_DRIVER_JOB_FORECAST_H
#define NORMSWEEP_DRIVER_JOB_FORECAST_H

#include "driver/dataset/start_plan.h"

/* Runs that would carry on, and the least and the largest step from which. */
struct forecast_steps {
    int64_t runs, least, most;
};

/* What a start would do with the runs of a sweep. The first five are the runs that it would train, each
 * counted once. */
struct forecast {
    struct forecast_steps resumed; /* from checkpoints of earlier starts */
    struct forecast_steps carried; /* from states of shorter runs */
    int64_t retried; /* failed runs, from their first step */
    int64_t again; /* runs that were under way and have no checkpoint that can be used, likewise */
    int64_t begun; /* runs that have never been started */
    int64_t kept[OUTCOME_COUNT]; /* runs that have ended, by outcome; of skipped cells all */
    double later; /* runs that a search would choose after these, roughly */
};

/* The number of runs that a start would train at first. */
int64_t forecast_pending(const struct forecast *forecast);

/* For the plan of a start at the sweep's output. Writes nothing. -1 with the error set. */
int forecast_make(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, struct error *error);

#endif
