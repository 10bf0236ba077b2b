#ifndef NORMSWEEP_DRIVER_TERMINAL_PLOT_H
#define NORMSWEEP_DRIVER_TERMINAL_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * A plane of cells in the terminal, with labelled axes: x rightwards, y upwards. With 256 colours cells are
 * painted, two of them a line where they are many and the terminal has half blocks; else they are characters.
 */

enum { PLOT_LABEL = 24, PLOT_TEXT = 24 };

struct plot_axis {
    const char *name; /* NULL: there is no such axis, and length is 1 */
    int64_t length;
    char (*label)[PLOT_LABEL]; /* [length] in the order in which they are drawn, from the origin on */
};

struct plot_cell {
    char fill; /* where cells are characters */
    const char *code; /* and their colour by ECMA-48; NULL: the terminal's */
    int colour; /* where they are painted; COLOUR_NONE: the terminal's background */
    int hatch; /* of every other column, as far as half blocks go; COLOUR_NONE: the same */
    char text[PLOT_TEXT]; /* stands on the colour where it fits, and for the characters where plot.spelled */
};

struct plot {
    FILE *out;
    struct terminal terminal;
    int rows; /* at most so many lines; 0: any number */
    int beside; /* lines that are to be seen together with the plot */
    struct plot_axis x, y;
    int least, most; /* columns a cell may be wide */
    bool spelled; /* as characters, cells are their texts */
    void *context;
    void (*cell)(void *context, int64_t x, int64_t y, struct plot_cell *cell);
};

/* A plot for a terminal; what is left to set are its axes, the cell and its context. */
void plot_init(struct plot *plot, FILE *out, const struct terminal *terminal);

/* Are cells painted? */
bool plot_is_painted(const struct plot *plot);

/* The columns that a plot of these axes leaves for each cell; below plot->least not all cells are drawn. */
int plot_cell_width(const struct plot *plot);

/* Draws; where not all cells fit, some, evenly spread, with the first and the last, and says so. */
void plot_draw(const struct plot *plot);

/* Place `i` of `count` that are evenly spread over `length`, the first and the last among them. */
static inline int64_t plot_pick(int64_t i, int64_t count, int64_t length)
{
    return count > 1 ? (i * (length - 1) + (count - 1) / 2) / (count - 1) : 0;
}

#endif
