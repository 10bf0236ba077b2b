#ifndef NORMSWEEP_DRIVER_PLAN_PLAN_H
#define NORMSWEEP_DRIVER_PLAN_PLAN_H

#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "driver/terminal/terminal.h"
#include "model/core/error.h"
#include "model/corpora/corpus.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

/* The parts that a run's time consists of: X(PART, name). Those behind validation are shown if they take
 * time. */
#define COST_PARTS(X)                                                                                        \
    X(SETUP, "set-up")                                                                                       \
    X(STEP, "training")                                                                                      \
    X(MEASURE, "measuring")                                                                                  \
    X(VALIDATE, "validation")                                                                                \
    X(SATURATE, "saturation and heads")                                                                      \
    X(GRADIENTS, "gradients")                                                                                \
    X(HESSIAN, "Hessian")                                                                                    \
    X(RESIDUAL, "residual stream")                                                                           \
    X(LYAPUNOV, "Lyapunov exponents")

enum cost_part {
#define X(PART, name) PART_##PART,
    COST_PARTS(X)
#undef X
        PART_COUNT
};

extern const char *const cost_part_names[PART_COUNT];

/* Runs of equal cost: alike in every parameter that the table marks as `cost`, and in their last step. */
struct cost_group {
    struct digest digest;
    struct run run; /* the first run */
    int64_t last_step, runs;
    double step_cost, cost; /* of a step, of the whole run: train_step_cost, train_cost */
    size_t memory; /* bytes of its arena */
    bool timed; /* measured, not interpolated */
    double seconds[PART_COUNT]; /* of one set-up, step, measurement, validation, ... */
};

/* The expected time of a sweep. */
struct estimate {
    int64_t runs, skipped;
    int64_t searched; /* runs among which a search chooses, of which it will probably train `runs`; 0: none */
    int64_t ended; /* of the runs, those that are not counted in the groups and times */
    int64_t group_count;
    struct cost_group *group; /* by descending cost of a whole run */
    int workers;
    int64_t timed; /* groups measured */
    int at_once; /* processes that measured at the same time */
    double core_seconds;
    double part[PART_COUNT]; /* fractions of core_seconds */
    double makespan; /* seconds with `workers` workers, longest runs first */
};

/*
 * Groups the sweep's runs and trains samples of them for about `seconds` in all, in as many processes at
 * once as the sweep has workers and this machine has processors for. The other groups are interpolated. Shows
 * its progress on `waiting`. `ended` [cells]: runs that will not be trained; NULL: none. -1: no memory, or no
 * process can be started, or a sample failed.
 */
int estimate_make(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    const bool *ended, int workers, double seconds, struct waiting *waiting, struct error *error);
void estimate_release(struct estimate *estimate);

/* Seconds of one whole run of a group. */
double cost_group_seconds(const struct cost_group *group, const struct measure *measure, bool validated);

/* The time that workers take for runs, each of which goes to the worker that is free first. */
struct makespan {
    double *load; /* [workers] seconds; a heap with the smallest on top; owned */
    int workers;
    double most; /* the largest load */
};

/* What one process measures of a group. */
struct sample {
    double seconds[PART_COUNT]; /* see struct cost_group */
    char reason[REASON_SIZE]; /* why the run cannot be trained; "": it can */
};

#endif
