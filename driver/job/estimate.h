#ifndef NORMSWEEP_DRIVER_JOB_ESTIMATE_H
#define NORMSWEEP_DRIVER_JOB_ESTIMATE_H

#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "driver/terminal/waiting.h"
#include "model/core/error.h"
#include "model/corpora/corpus.h"

/* Runs that cost the same: alike in every parameter that the table marks as `cost`, and in their last step.
 */
struct cost_group {
    struct digest digest;
    struct run run; /* the first of them */
    int64_t last_step, runs;
    double step_cost, cost; /* of a step and of the whole run: train_step_cost, train_cost */
    size_t memory; /* bytes of its arena */
    bool timed; /* measured, not interpolated */
    double setup_seconds, step_seconds, measure_seconds, validate_seconds,
        saturate_seconds; /* once, and per step, measurement, validation, measurement of saturation and heads
                           */
};

/* What a sweep will take. */
struct estimate {
    int64_t runs, skipped;
    int64_t group_count;
    struct cost_group *group; /* by descending cost of a whole run */
    int workers;
    int64_t timed; /* groups measured */
    int at_once; /* processes that measured at the same time */
    double core_seconds, setup_part, step_part, measure_part, validate_part, saturate_part; /* parts of 1 */
    double makespan; /* seconds on `workers`, longest runs first */
};

/*
 * Groups the sweep's runs and trains samples of them for real, in as many processes at once as the sweep
 * would have workers and this machine has processors, for about `seconds` in all; groups between the samples
 * are interpolated. What it is busy with goes to `waiting`. -1: no memory or no process.
 */
int estimate_make(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    int workers, double seconds, struct waiting *waiting, struct error *error);
void estimate_release(struct estimate *estimate);

/* Seconds of one whole run of a group. */
double cost_group_seconds(const struct cost_group *group, const struct measure *measure, bool validated);

#endif
