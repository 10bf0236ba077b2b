#ifndef NORMSWEEP_DRIVER_TERMINAL_CHART_H
#define NORMSWEEP_DRIVER_TERMINAL_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/* Lines over one axis in the terminal. */

enum { CHART_LINES_MOST = 8, CHART_LABEL = 48 };

struct chart_line {
    char label[CHART_LABEL]; /* clean */
    const double *y; /* [count]; NaN: none there, the line goes on; infinite: it breaks off */
    bool beyond; /* may leave the chart: the y axis is the others' */
};

struct chart {
    FILE *out;
    struct terminal terminal;
    int beside; /* lines that are to be seen together with the chart */
    const char *x_name;
    int64_t count;
    const double *x; /* [count] ascending */
    const char *legend; /* what the labels are values of; NULL: there is one line, without a label */
    int line_count; /* at most CHART_LINES_MOST */
    struct chart_line line[CHART_LINES_MOST];
};

/* Draws; y is logarithmic where it is positive and goes over a factor of 10 or more. Where there is
 * nothing to draw it says so. -1: no memory. */
int chart_draw(const struct chart *chart);

#endif
