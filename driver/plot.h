#ifndef NORMSWEEP_DRIVER_PLOT_H
#define NORMSWEEP_DRIVER_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A plane of cells in the terminal, with labelled axes: x rightwards, y upwards. */

enum { PLOT_LABEL = 24 };

struct plot_axis {
    const char *name; /* NULL: there is no such axis, and length is 1 */
    int64_t length;
    char (*label)[PLOT_LABEL]; /* [length] in the order in which they are drawn, from the origin on */
};

struct plot {
    FILE *out;
    int columns; /* of the terminal */
    bool colour;
    struct plot_axis x, y;
    int least, most; /* characters a cell may be wide */
    void *context;
    /* Prints cell (x, y) in exactly `width` characters. */
    void (*cell)(void *context, FILE *out, int64_t x, int64_t y, int width);
};

/* Columns and colour as the stream has them: 80 and none where it is no terminal. */
void plot_init(struct plot *plot, FILE *out);

/* The columns that a plot of this x axis leaves for each cell; below plot->least not all cells are drawn. */
int plot_cell_width(const struct plot *plot);

/* Draws; where not all cells fit, every second, third, ... along an axis, and says so. */
void plot_draw(const struct plot *plot);

/* A cell of one character all over, with a gap after it where there is room. */
void plot_fill(FILE *out, char character, int width);

/* Begins a colour of ECMA-48 ("31": red), or ends it (NULL), where the plot has any. */
void plot_colour(const struct plot *plot, const char *colour);

#endif
