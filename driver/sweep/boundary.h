#ifndef NORMSWEEP_DRIVER_SWEEP_BOUNDARY_H
#define NORMSWEEP_DRIVER_SWEEP_BOUNDARY_H

#include "driver/sweep/sweep.h"
#include "driver/tables/dataset_tables.h"

/* The boundary that the runs of a sweep tell: where along one axis a variable crosses a value. */
struct boundary {
    int64_t axis; /* of the sweep, a plain one of numbers */
    enum metric variable; /* one value of the whole run */
    double at;
};

/* What `refine` looks for along one axis, or where norm_growth crosses 1 along weight_decay. False: the sweep
 * has no such axis, or does not measure norm_growth. */
bool boundary_of(const struct sweep *sweep, struct boundary *boundary);

/* Is it a weight_decay at which norm_growth crosses `at`, above 0? */
bool boundary_is_of_growth(const struct sweep *sweep, const struct boundary *boundary);

/* Fills in the axes [sweep->axis_count, at most] of a variable of the boundary, in their order. Returns their
 * number; -1: the sweep does not have the variable. */
int64_t boundary_axes(const struct sweep *sweep, enum boundary_over over, int64_t *axis);

/* The product of the lengths of `count` axes. */
int64_t boundary_size(const struct sweep *sweep, int64_t count, const int64_t *axis);

/* The plain axis of a parameter; -1: it is not one. */
int64_t boundary_axis(const struct sweep *sweep, const char *param);

#endif
