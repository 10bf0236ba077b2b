#ifndef NORMSWEEP_DRIVER_TERMINAL_CHART_H
#define NORMSWEEP_DRIVER_TERMINAL_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/* A line chart in the terminal. */

enum { CHART_LINES_MOST = 8, CHART_LABEL = 48 };

struct chart_line {
    char label[CHART_LABEL]; /* clean */
    const double *y; /* [count]; NaN: no value, the line continues; infinite: the line breaks */
    bool beyond; /* does not count for the range of the y axis, so parts of it may not show */
};

struct chart {
    FILE *out;
    struct terminal terminal;
    int beside; /* lines of other output that must fit on the screen with the chart */
    const char *x_name;
    int64_t count;
    const double *x; /* [count] ascending */
    const char *legend; /* what the labels are values of; NULL: a single line without a label */
    bool linear; /* never a logarithmic y axis */
    int line_count; /* at most CHART_LINES_MOST */
    struct chart_line line[CHART_LINES_MOST];
};

/* Draws the chart. The y axis is logarithmic if all values are positive and span a factor of 10 or more,
 * and `linear` is not set. Without values, prints a line that says so. -1: no memory. */
int chart_draw(const struct chart *chart);

#endif
