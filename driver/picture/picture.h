#ifndef NORMSWEEP_DRIVER_PICTURE_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "driver/terminal/terminal.h"

/* One plane of a dataset as text: the phase diagram, or a variable over two of its dimensions. */

/* What to draw, as the command line says it. */
struct picture {
    FILE *out;
    struct terminal terminal; /* with colours, cells are painted */
    const struct view *view; /* open */
    const char *variable; /* NULL: the phase diagram */
    const char *const *at; /* [at_count] "seed=0,norm_placement=pre": values of dimensions */
    int at_count;
    const char *over; /* "learning_rate,seed": the axes; NULL: the default ones */
};

/* Draws it. -1: an error; ERROR_INPUT if there is no such variable, dimension or value. */
int picture_draw(const struct picture *picture, struct error *error);

/* Cells of a grid, as an option of a command line chooses them. */
struct choice_of_cells {
    const char *name, *option; /* for messages: "first.nc", "--at" */
    int64_t axis_count;
    const struct axis *axis; /* [axis_count] */
    const struct run *base; /* has the other parameters */
    const char *const *text; /* [count] "learning_rate=0.001,seed=0": all cells with these values */
    int count;
};

/* Marks the cells that any of the texts names in `chosen` [cells], which the caller frees. -1 and
 * ERROR_INPUT: there is no such axis or value; nothing to free. */
int selection_cells(const struct choice_of_cells *choice, bool **chosen, struct error *error);

/* The only cell that has the values of all texts, for `inspect`. -1 and ERROR_INPUT: as above, or there are
 * several; the message says which axes lack a value. */
int64_t selection_cell(const struct choice_of_cells *choice, struct error *error);

/* The state of the runs of a grid. */
struct picture_runs {
    int64_t axis_count;
    const struct axis *axis; /* [axis_count] */
    const signed char *outcome; /* [cells] of enum outcome; cells: the product of the axes' lengths */
    const double *growth; /* [cells] norm_growth, NaN if unknown; NULL: all unknown */
    const double
        *phase; /* [cells] enum phase as a number: what a search implies for skipped cells; NULL: unknown */
    bool live; /* a cell with a running run is marked running, whatever its other runs are */
};

enum { PICTURE_MAP_ROWS = 8 }; /* the fewest in which a map can be drawn */

/*
 * Draws the phase diagram of these runs and its legend in at most `rows` lines, none wider than the terminal:
 * a cell is the mean over all axes that are not drawn. Returns the number of lines.
 */
int picture_map(FILE *out, const struct terminal *terminal, int rows, const struct picture_runs *runs);

#endif
