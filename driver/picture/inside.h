#ifndef NORMSWEEP_DRIVER_PICTURE_INSIDE_H
#define NORMSWEEP_DRIVER_PICTURE_INSIDE_H

#include <stdint.h>
#include <stdio.h>

#include "driver/picture/picture.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

/* What the files of this room that draw share. */

/* ---- plane.c: what is drawn, and where ---- */

struct dimension {
    const char *name; /* borrowed from the axis or the variable */
    int64_t length;
    double *number; /* [length]; NULL: the values are words */
    int digits; /* of numbers, at least 3, with which all labels differ */
    char **word; /* [length], without control characters; NULL: the values are numbers */
    int64_t fixed; /* the only index to draw; -1: all */
    bool paneled; /* there is a panel for each value */
};

enum { PLANE_CHOOSE = -2, PLANE_NONE = -1, PANELS_MOST = 6, DIMENSION_LABEL = 24 };

/* An axis of the picture. */
struct side {
    int dimension; /* index in the plane; PLANE_NONE: none, and length is 1 */
    const char *name; /* NULL: none */
    int64_t length;
    int64_t *drawn; /* [length] where each index is drawn, from the origin; numbers ascend */
    char (*label)[DIMENSION_LABEL]; /* [length] in the order drawn */
};

/*
 * Two dimensions are drawn, by default learning_rate as x and weight_decay as y if more than one value of
 * them is to be drawn, otherwise the first dimensions of which that is true; the seed only if there is no
 * other. Each combination of values of the other such axes of the sweep has a panel, and each force. What is
 * left is averaged: runs that differ in the seed alone, and dimensions that are not axes.
 */
struct plane {
    int count;
    struct dimension dimension[VIEW_DIMENSIONS_MAX];
    int64_t size; /* product of the lengths */
    struct side x, y;
    int64_t combinations; /* of the values of paneled dimensions */
    int panels; /* of the combinations at most PANELS_MOST, evenly spaced: */
    int64_t shown[PANELS_MOST];
};

/* The dimensions of a grid. */
void plane_of_axes(struct plane *plane, int64_t axis_count, const struct axis *axis);

/* Those of a variable, which must outlive the plane. Values come from the file's coordinates; dimensions
 * without one have the indices 0, 1, ... -1: a coordinate cannot be read, nothing to release. */
int plane_of_variable(
    struct plane *plane, const struct view *view, const struct view_variable *variable, struct error *error);

/* Chooses the axes: `x`, `y`, dimensions of the plane or PLANE_NONE; or both PLANE_CHOOSE, for the default.
 * `view` names the axes of the sweep; NULL: a single panel, the mean over all of them. */
void plane_choose(struct plane *plane, const struct view *view, int x, int y);
void plane_release(struct plane *plane);

/* The index of the dimension of that name, or -1. */
int plane_find(const struct plane *plane, const char *name);

/* Formats value `index`: a word, cut to fit, or a number with as many significant digits as labels need,
 * integers with all of them. Returns label. */
char *dimension_label(const struct dimension *dimension, int64_t index, char label[DIMENSION_LABEL]);

/* Cells of all panels. */
int64_t plane_cells(const struct plane *plane);

/* The cell, of [panel][y][x] in the order drawn, that value `index` belongs to; -1: none. */
int64_t plane_cell(const struct plane *plane, int64_t index);

/* The `step` dimension if it is neither drawn nor fixed, or -1. */
int plane_hidden_step(const struct plane *plane);

/* What becomes of a dimension; ROLE_OTHER: an axis, the hidden step, or one of a single value. */
enum role { ROLE_OTHER, ROLE_FIXED, ROLE_PANELED, ROLE_AVERAGED };

/* The names of the dimensions with a role, joined by ", ", with "=value" where they have one: fixed ones, and
 * paneled ones in a panel, from 0; "" if there are none. The caller frees it. */
char *plane_names(const struct plane *plane, enum role role, int panel);

/* Index `i` of `count` that are evenly spaced over 0..length-1, both ends included. */
static inline int64_t plane_pick(int64_t i, int64_t count, int64_t length)
{
    return count > 1 ? (i * (length - 1) + (count - 1) / 2) / (count - 1) : 0;
}

/* ---- selection.c: what the arguments of `show` name ---- */

/* Finds a numeric variable of the dataset. -1 and ERROR_INPUT: there is none; the message says what to do. */
int selection_variable(
    const struct view *view, const char *name, struct view_variable *variable, struct error *error);

/* Fixes the dimensions of the plane that the command line fixes, and chooses the axes that it asks for. -1
 * and ERROR_INPUT: one is not there. */
int selection_choose(const struct picture *picture, struct plane *plane, struct error *error);

/* ---- plot.c: cells with labelled axes ---- */

enum { PLOT_TEXT = 24 };

struct plot_cell {
    char character; /* fills the cell unless it is painted or has a text */
    int colour; /* if cells are painted; COLOUR_NONE: the terminal's background */
    char text[PLOT_TEXT]; /* printed in the middle of the cell, if it fits */
};

struct plot {
    FILE *out;
    struct terminal terminal; /* with colours, cells are painted */
    int rows; /* the largest number of lines, from PLOT_ROWS; 0: no limit */
    const struct side *x, *y; /* rightwards and upwards */
    int most; /* largest width of a cell in columns, unless labels are wider */
    const void *context;
    struct plot_cell (*cell)(const void *context, int64_t x, int64_t y);

    int label; /* columns of the y labels; a blank and a bar follow */
    int room; /* columns left for cells */
    int tick; /* columns of the widest x label and a blank; 0: there are none */
    int width; /* columns of a cell */
    int64_t columns, lines; /* cells that are drawn */
    int64_t ticks; /* columns that have a label */
    int tick_lines; /* lines of these labels */
    bool names; /* of the axes are drawn, as there is room */
};

enum { PLOT_ROWS = 5 };

/* Measures what the sides leave for cells, before the other functions. */
void plot_measure(struct plot *plot);

/* The width that is left for each cell; 0: not all cells are drawn. */
int plot_cell_width(const struct plot *plot);

/* Draws the plot. If not all cells fit, draws an evenly spaced subset, with the first and the last, and
 * says so. */
void plot_draw(struct plot *plot);

#endif
