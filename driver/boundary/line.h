#ifndef NORMSWEEP_DRIVER_BOUNDARY_LINE_H
#define NORMSWEEP_DRIVER_BOUNDARY_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Where a variable crosses a value on a line of runs along one axis; analysis/normsweep/boundary.py has the
 * same for Python. */

/* How a line is read. */
struct line_rule {
    double at; /* the value that is crossed */
    bool ratio; /* interpolate in the logarithm of the variable, which is a ratio, and `at` is above 0 */
    bool log_axis; /* and in that of the axis, which has no boundary beside a 0 */
    bool falls; /* only from a run above `at` to one that is not; else also the other way round */
};

struct line_point {
    double axis, value; /* a value that is NaN does not count: the runs beside it become neighbours */
};

/* NaN: nothing crosses. */
struct line_bracket {
    double boundary; /* interpolated; NaN also if there is only a bracket, from 0 on a logarithmic axis */
    double low, high; /* the axis at the two runs */
};

/* The last crossing between points that count. Sorts the points by their place. */
struct line_bracket line_cross(const struct line_rule *rule, struct line_point *point, int64_t count);

#endif
