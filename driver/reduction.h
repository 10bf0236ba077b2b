#ifndef NORMSWEEP_DRIVER_REDUCTION_H
#define NORMSWEEP_DRIVER_REDUCTION_H

#include "driver/plane.h"

/* A variable over a plane: one number for each cell. */
struct reduction {
    struct view_flags flags;
    double *value; /* [y][x] as drawn: a mean or, of flags, the most frequent; NaN where there is nothing */
    double low, high; /* of the finite ones; low > high where there is none */
};

/* Reads and reduces what falls into the plane; along `step`, where that is neither drawn nor fixed, the last
 * value stands for all. On failure -1 and nothing held. */
int reduction_init(struct reduction *reduction, const struct view *view, const struct view_variable *variable,
    const struct plane *plane, struct error *error);
void reduction_release(struct reduction *reduction);

/* The `step` dimension where it is neither drawn nor fixed, or -1. */
int reduction_hidden_step(const struct plane *plane);

#endif
