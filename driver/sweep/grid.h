#ifndef NORMSWEEP_DRIVER_SWEEP_GRID_H
#define NORMSWEEP_DRIVER_SWEEP_GRID_H

#include "driver/sweep/sweep.h"

/*
 * A walk over the cells that are not skipped, in order, with the run of each. Each step updates only the
 * parameters that change, so that a walk over millions of cells takes a fraction of a second. struct walk
 * walk; walk_init(&walk, sweep); while (walk_next(&walk)) ... walk.cell, walk.run ...
 *     walk_release(&walk);
 */
struct walk {
    const struct sweep *sweep;
    int64_t cell; /* -1 before the first */
    int64_t *index; /* [axis_count] */
    struct run run;
};

void walk_init(struct walk *walk, const struct sweep *sweep);
bool walk_next(struct walk *walk);
void walk_release(struct walk *walk);

/* Cells are numbered in row-major order; the first axis of the file is the outermost. */

/* The run of a cell. */
void sweep_cell(const struct sweep *sweep, int64_t cell, struct run *run);

/* The indices [axis_count] of a cell along the axes. */
void sweep_indices(const struct sweep *sweep, int64_t cell, int64_t *index);

/* Does the sweep skip this cell? */
bool sweep_skips(const struct sweep *sweep, int64_t cell);

/* The row of a parameter in the values of an axis; -1: the axis does not move it. */
int64_t axis_row(const struct axis *axis, const struct param *param);

/* Which of the axes [count] moves a parameter; NULL: none. */
const struct axis *axis_find(int64_t count, const struct axis *axis, const struct param *param);

/* The least and the largest number of threads that a run of a sweep has. */
struct threads {
    int64_t least, most;
};

struct threads threads_of(const struct sweep *sweep);

/* The number of workers that can run on this process's processors, one processor for each thread; at least 1.
 */
int threads_workers(const struct sweep *sweep);

#endif
