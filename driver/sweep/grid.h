#ifndef NORMSWEEP_DRIVER_SWEEP_GRID_H
#define NORMSWEEP_DRIVER_SWEEP_GRID_H

#include "driver/sweep/sweep.h"

/*
 * A walk over the cells that are not left out, in order, with each one's run at hand. A step changes only
 * what differs from the cell before, so that a grid of millions of cells is walked in a fraction of a second.
 *     struct walk walk;
 *     if (walk_init(&walk, sweep, error) < 0) ...
 *     while (walk_next(&walk)) ... walk.cell, walk.run ...
 *     walk_release(&walk);
 */
struct walk {
    const struct sweep *sweep;
    int64_t cell; /* -1 before the first */
    int64_t *index; /* [axis_count] */
    struct run run;
};

int walk_init(struct walk *walk, const struct sweep *sweep, struct error *error);
bool walk_next(struct walk *walk);
void walk_release(struct walk *walk);

void sweep_cell(const struct sweep *sweep, int64_t cell, struct run *run);

/* Cell `cell` of the grid, row-major, the file's first axis outermost: its indices [axis_count], its run, is
 * it left out? */
void sweep_indices(const struct sweep *sweep, int64_t cell, int64_t *index);

bool sweep_skips(const struct sweep *sweep, int64_t cell);

#endif
