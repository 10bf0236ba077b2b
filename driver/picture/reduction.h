#ifndef NORMSWEEP_DRIVER_PICTURE_REDUCTION_H
#define NORMSWEEP_DRIVER_PICTURE_REDUCTION_H

#include "driver/dataset/variables.h"
#include "driver/picture/plane.h"
#include "driver/tables/nature.h"

/* A variable reduced to a plane: one number per cell. For metrics of training, diverged runs are left out
 * unless all runs diverged. */
struct reduction {
    const struct nature_row *nature; /* says whether means are geometric; those use finite values only */
    double *value; /* [y][x] as drawn: a mean, or the most frequent flag; NaN: none */
    bool *diverged; /* [y][x] most ended runs of the cell diverged */
    int64_t diverged_runs;
    int64_t fewer; /* cells that have runs, but fewer than others because some are skipped */
    struct view_flags flags;
    bool all_diverged; /* all runs diverged, and none is left out; if not, diverged cells have value NaN */
};

/* Reads a variable and reduces it to the plane. If `step` is neither drawn nor fixed, the last
 * value along it is used. -1: an error, nothing to release. */
int reduction_init(struct reduction *reduction, const struct view *view, const struct view_variable *variable,
    const struct plane *plane, struct error *error);
void reduction_release(struct reduction *reduction);

/* The `step` dimension if it is neither drawn nor fixed, or -1. */
int reduction_hidden_step(const struct plane *plane);

#endif
