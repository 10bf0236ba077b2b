#ifndef NORMSWEEP_DRIVER_PLAN_PLAN_H
#define NORMSWEEP_DRIVER_PLAN_PLAN_H

#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "driver/terminal/terminal.h"
#include "model/core/error.h"
#include "model/corpora/corpora.h"
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
    X(LYAPUNOV, "Lyapunov exponents")                                                                        \
    X(ATTENTION, "attention")                                                                                \
    X(SHARPNESS, "critical sharpness")                                                                       \
    X(SPECTRA, "spectra")

enum cost_part {
#define X(PART, name) PART_##PART,
    COST_PARTS(X)
#undef X
        PART_COUNT
};

extern const char *const cost_part_names[PART_COUNT];

/* Of parameters, for example, from the smallest group to the largest; low is above high without groups. */
struct span {
    double low, high;
};

/* Runs of equal cost: alike in every parameter that the table marks as `cost`, and in their last step. */
struct cost_group {
    struct digest digest;
    struct run run; /* the first run */
    int64_t last_step, runs;
    double own; /* share of their steps that they do not take over from other runs */
    double step_cost, cost; /* of a step, of the whole run: train_step_cost, train_cost */
    size_t memory; /* bytes of its arena */
    bool timed; /* measured, not interpolated */
    double seconds[PART_COUNT]; /* of one set-up, step, measurement, validation, ... */
    struct span factor; /* the range of these seconds, as factors: see struct estimate */
    double busy; /* see struct estimate */
};

/*
 * The expected time of a sweep: sums over its groups, if the machine stays as busy as it was. The time may be
 * between `factor.low` and `factor.high` times that: from that of an idle machine, by the processor time of
 * the quickest steps, to that of the slowest moments of the samples; and what a search chooses may be fewer
 * or more runs.
 */
struct estimate {
    int64_t runs, skipped;
    int64_t others; /* runs that --only leaves out: counted in nothing else */
    int64_t searched; /* runs among which a search chooses, of which it will probably train `runs`; 0: none */
    int64_t ended; /* of the runs, those that are not counted in the groups and times */
    int64_t trunks; /* how many sets of runs share steps */
    int64_t steps, shared; /* of the runs to train, and those of them that they take over from others */
    int64_t group_count;
    struct cost_group *group; /* by descending cost of a whole run */
    int workers;
    int64_t timed; /* groups measured */
    int at_once; /* processes that measured at the same time */
    double core_seconds;
    double part[PART_COUNT]; /* fractions of core_seconds */
    double makespan; /* seconds with `workers` workers, longest runs first */
    struct span factor, whole; /* `whole`: of `makespan` in seconds, with the start of the workers */
    double busy; /* share of the samples' time in which other programs had their processors */
};

/*
 * Groups the sweep's runs and trains samples of them for about `seconds` in all, in as many processes at
 * once as the sweep has workers and this machine has processors for. The other groups are interpolated. Shows
 * its progress on `waiting`. `ended` [cells]: runs that will not be trained; NULL: none. `left`: how many a
 * search that has begun will still train; below 0: it has not begun. -1: no process can be started, or a
 * sample failed.
 */
int estimate_make(struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus,
    const bool *ended, double left, int workers, double seconds, struct waiting *waiting,
    struct error *error);
void estimate_release(struct estimate *estimate);

/* What the runs of an estimate need. All sizes in bytes. */
struct needs {
    struct span parameters, steps; /* of a run */
    struct span step_milliseconds;
    double longest; /* seconds of the longest run */
    struct span rank; /* memory of one rank */
    double corpus; /* memory of the corpus, once; without mapped files, whose pages the system may drop */
    double memory; /* of all workers on one machine, with the corpus */
    double checkpoints, states, weights; /* files, at most; states: see save_weights */
};

struct needs needs_of(
    const struct estimate *estimate, const struct sweep *sweep, const struct corpus *corpus);

#endif
