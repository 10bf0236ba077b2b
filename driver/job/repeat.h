#ifndef NORMSWEEP_DRIVER_JOB_REPEAT_H
#define NORMSWEEP_DRIVER_JOB_REPEAT_H

#include "driver/dataset/record.h"
#include "driver/terminal/waiting.h"

/* A finished run of a dataset, to be trained again. */
struct repeat {
    int64_t cell; /* of the sweep */
    int64_t place; /* the file's cell */
    struct difference difference; /* set by repeat_runs */
};

/*
 * Trains runs of the dataset of `view` again, from their first step, and compares them with it; only reads.
 * Each run has a process of its own, with the run's threads; `workers` (at least 1) train at once. Status
 * lines are shown on `waiting`. On failure -1: ERROR_INPUT if the dataset has no place for what a run
 * measures; ERROR_ENVIRONMENT if a run cannot be trained here, the dataset cannot be read, or it changes
 * meanwhile. No process is left.
 */
int repeat_runs(struct repeat *repeat, int64_t count, const struct sweep *sweep, const struct corpus *corpus,
    const struct view *view, int workers, struct waiting *waiting, struct error *error);

#endif
