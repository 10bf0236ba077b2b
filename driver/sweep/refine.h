#ifndef NORMSWEEP_DRIVER_SWEEP_REFINE_H
#define NORMSWEEP_DRIVER_SWEEP_REFINE_H

#include <stdint.h>

#include "worker/run/metric.h"

struct reader;
struct node;

enum refine_kind {
    REFINE_NONE, /* every cell is trained */
    REFINE_LINES, /* on each line along one axis, the two neighbours between which the variable crosses */
    REFINE_CELLS, /* all such neighbours in each part of the grid that one or two axes span: a coarse pass
                     first, then halved steps wherever neighbours differ */
};

enum { REFINE_AXES = 2, REFINE_COARSE = 8, REFINE_COARSE_MOST = 1 << 10 };

/* How a sweep looks for a boundary, in place of training its whole grid. */
struct refine {
    enum refine_kind kind;
    int axis_count; /* 1, or with REFINE_CELLS also 2 */
    int64_t axis[REFINE_AXES]; /* indices of the sweep's axes, each of a parameter that is a number */
    enum metric variable; /* one value of the whole run */
    double at; /* the value that the variable crosses */
    int64_t coarse; /* REFINE_CELLS: the first pass takes every value at this distance; a power of 2 */
};

/*
 * Reads `refine: {axis: NAME, variable: METRIC, at: NUMBER}`, or `axes: [NAME, NAME]` and `coarse: N`, into
 * the sweep, whose axes and measured groups have been read. 0, or -1 with the reader's error set.
 */
int refine_read(struct reader *reader, const struct node *node);

#endif
