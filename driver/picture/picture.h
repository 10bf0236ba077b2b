#ifndef NORMSWEEP_DRIVER_PICTURE_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_PICTURE_H

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

/*
 * The phase diagram of a running sweep. It is redrawn after changes, but so rarely that drawing takes less
 * than 1 % of the time, however large the grid is. When the terminal changes size it is redrawn at once,
 * because lines made for a larger terminal would push the workers' lines off a smaller one.
 */
struct live_map {
    struct picture_runs runs; /* borrowed pointers; outcome NULL: no map */
    char *text; /* the lines; NULL: none */
    int rows, columns; /* the size that the lines were made for */
    bool changed; /* since the last drawing */
    double next; /* time of the next drawing, at the earliest */
};

void live_map_init(struct live_map *map, const struct picture_runs *runs);
void live_map_release(struct live_map *map);

/* Updates `text` if due; `now` in seconds. At most `rows` lines of the canvas's width; none if rows are
 * too few for a map. */
void live_map_draw(struct live_map *map, const struct canvas *canvas, int rows, double now);

enum { RUN_LINE_HEAD = 64, RUN_LINE_NOTE = 32 };

/* A worker and the run that it is training. */
struct run_line {
    char head[RUN_LINE_HEAD]; /* "  1", "node07" */
    int64_t cell; /* -1: idle */
    int64_t step, last_step; /* last_step -1: unknown */
    double loss; /* NaN: none yet */
    char note[RUN_LINE_NOTE]; /* "12.3k tokens/s"; "": none */
};

/* How the runs of earlier lines were named, all zeros at first: a display that is drawn again keeps to the
 * shortest names that it has needed, as long as its width is the same. */
struct run_naming {
    enum naming naming;
    int columns;
};

/*
 * Prints `count` lines with aligned columns, at most `columns` wide: "  1  lr=0.1 seed=2  120/300  loss 3.214
 * 12.3k tokens/s". If the width is short, names are shortened, notes are dropped below 60 columns, losses
 * below 40.
 */
void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming);

#endif
