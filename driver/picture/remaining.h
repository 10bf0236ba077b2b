#ifndef NORMSWEEP_DRIVER_PICTURE_REMAINING_H
#define NORMSWEEP_DRIVER_PICTURE_REMAINING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long a sweep has still to go, by what its runs have taken so far. Runs of one kind take about as long
 * as each other; a kind of which none has ended is reckoned from the others, or at first from the steps that
 * runs under way have behind them, in the ratio of what the cost model says.
 */
struct kind {
    double step_cost; /* in any unit */
    int64_t last_step; /* of a run that goes to its end */
    int64_t pending, ended; /* runs; those that failed left out */
    double steps, seconds; /* of the ended ones together; some may have diverged early */
};

struct under_way {
    int64_t kind; /* index */
    int64_t step; /* of the last that was heard of it */
    double silent; /* seconds since then, in which it has gone on */
    bool anew; /* all its steps were taken in this session */
};

struct remaining {
    int64_t kind_count;
    const struct kind *kind; /* [kind_count] */
    int64_t run_count;
    const struct under_way *run; /* [run_count] each by a worker of its own */
    double age; /* seconds that these workers are at it; NaN: not known */
};

/* Seconds until all runs have ended; NaN where there is nothing to go by, or nobody at work. */
double remaining_seconds(const struct remaining *remaining);

#endif
