#ifndef NORMSWEEP_DRIVER_PICTURE_REDUCTION_H
#define NORMSWEEP_DRIVER_PICTURE_REDUCTION_H

#include "driver/dataset/variables.h"
#include "driver/picture/plane.h"
#include "driver/tables/nature.h"

/* A variable over a plane: one number for each cell. Of a metric of training, runs that diverged are left out
 * where there are others. */
struct reduction {
    const struct nature_row *nature; /* geometric means are those of finite values */
    struct view_flags flags;
    double *value; /* [y][x] as drawn: a mean or, of flags, the most frequent; NaN where there is nothing */
    bool *diverged; /* [y][x] have most of the ended runs there diverged? */
    bool all_diverged; /* all runs have, and nothing is left out; else the values of those cells are NaN */
    int64_t diverged_runs;
};

/* Reads and reduces what of the variable called `name` falls into the plane; along `step`, where that is
 * neither drawn nor fixed, the last value stands for all. On failure -1 and nothing held. */
int reduction_init(struct reduction *reduction, const struct view *view, const char *name,
    const struct view_variable *variable, const struct plane *plane, struct error *error);
void reduction_release(struct reduction *reduction);

/* The `step` dimension where it is neither drawn nor fixed, or -1. */
int reduction_hidden_step(const struct plane *plane);

#endif
