#ifndef NORMSWEEP_DRIVER_TERMINAL_PLOT_H
#define NORMSWEEP_DRIVER_TERMINAL_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * A grid of cells in the terminal with labelled axes, x rightwards and y upwards. With 256 colours cells are
 * painted; if there are many rows and the terminal has half blocks, two rows share a line. Otherwise cells
 * are characters.
 */

enum { PLOT_LABEL = 24, PLOT_TEXT = 24 };

struct plot_axis {
    const char *name; /* NULL: no such axis, and length is 1 */
    int64_t length;
    char (*label)[PLOT_LABEL]; /* [length] in the order drawn, from the origin */
};

struct plot_cell {
    char fill; /* the character, if cells are not painted */
    const char *code; /* its ECMA-48 colour; NULL: the terminal's default */
    int colour; /* if cells are painted; COLOUR_NONE: the terminal's background */
    int hatch; /* colour of every other square; COLOUR_NONE: not hatched */
    char text[PLOT_TEXT]; /* printed on the colour if it fits; replaces the character if plot.spelled */
};

struct plot {
    FILE *out;
    struct terminal terminal;
    int rows; /* the largest number of lines; 0: no limit */
    int beside; /* lines of other output that must fit on the screen with the plot */
    struct plot_axis x, y;
    int least, most; /* bounds of a cell's width in columns */
    bool spelled; /* unpainted cells show their texts */
    void *context;
    void (*cell)(void *context, int64_t x, int64_t y, struct plot_cell *cell);
};

/* Sets defaults; the caller sets the axes, the cell function and its context. */
void plot_init(struct plot *plot, FILE *out, const struct terminal *terminal);

/* Are cells painted? */
bool plot_is_painted(const struct plot *plot);

/* The width that is left for each cell; if it is below plot->least, not all cells are drawn. */
int plot_cell_width(const struct plot *plot);

/* Draws the plot. If not all cells fit, draws an evenly spaced subset, with the first and the last, and
 * says so. */
void plot_draw(const struct plot *plot);

/* Index `i` of `count` that are evenly spaced over 0..length-1, both ends included. */
static inline int64_t plot_pick(int64_t i, int64_t count, int64_t length)
{
    return count > 1 ? (i * (length - 1) + (count - 1) / 2) / (count - 1) : 0;
}

#endif
