#ifndef NORMSWEEP_DRIVER_PICTURE_KINDS_H
#define NORMSWEEP_DRIVER_PICTURE_KINDS_H

#include "driver/dataset/view.h"
#include "driver/picture/remaining.h"

/*
 * The kinds of runs in a dataset: alike in every parameter that the time of a step or the number of steps
 * depends on. One for each cell of the grid that the axes of such parameters span.
 */
struct kinds {
    int64_t count;
    struct kind *kind; /* [count] step_cost and last_step; no runs yet. Owned */
    double *tokens; /* [count] of a step, where sequences fill the context; else NaN. Owned */
    int64_t cells, axis_count;
    const struct axis *axis; /* the view's */
    int64_t *stride; /* [axis_count] from a value to the next in kinds; 0: all are of one kind. Owned */
};

/* The view outlives them. -1: no memory. */
int kinds_init(struct kinds *kinds, const struct view *view, struct error *error);
void kinds_release(struct kinds *kinds);

/* Of which kind is a cell? */
int64_t kinds_find(const struct kinds *kinds, int64_t cell);

#endif
