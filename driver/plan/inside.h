#ifndef NORMSWEEP_DRIVER_PLAN_INSIDE_H
#define NORMSWEEP_DRIVER_PLAN_INSIDE_H

#include "driver/plan/plan.h"

/* What one process measures of a group. */
struct sample {
    double seconds[PART_COUNT]; /* see struct cost_group */
    struct span
        step; /* of a step: the least processor time, the most seconds, each of a slice of the sample */
    double processor, wall; /* seconds of all steps */
    char reason[REASON_SIZE]; /* why the run cannot be trained; "": it can */
};

/* The task of a sampling process. */
struct sampling {
    const struct cost_group *group;
    const struct corpus *corpus;
    const struct measure *measure;
    double limit; /* clock at which to stop */
};

/* Trains the group's run for short whiles, as often as there is time for, at least once: the mean. */
struct sample sample_take(const struct sampling *sampling);

/* Updates a mean that now has `count` samples. */
void sample_add(struct sample *mean, const struct sample *sample, int count);

#endif
