#ifndef NORMSWEEP_DRIVER_PICTURE_DIAGRAM_H
#define NORMSWEEP_DRIVER_PICTURE_DIAGRAM_H

#include "driver/picture/panels.h"
#include "driver/picture/plane.h"
#include "driver/terminal/terminal.h"

/* The state of the runs of a grid. */
struct diagram_runs {
    int64_t axis_count;
    const struct axis *axis; /* [axis_count] */
    int64_t cells; /* the product of the axes' lengths */
    const signed char *outcome; /* [cells] of enum outcome */
    const double *growth; /* [cells] norm_growth, NaN if unknown; NULL: all unknown */
    const double
        *phase; /* [cells] enum phase as a number: what a search implies for skipped cells; NULL: unknown */
    bool live; /* a cell with a running run is marked running, whatever its other runs are */
};

/*
 * Draws the phase diagram and its legend: where norms grew and where they shrank, over learning_rate and
 * weight_decay or else the first two axes with more than one value. A cell shows the geometric mean of
 * norm_growth over the other axes. Prints at most `rows` lines (0: no limit), none wider than the terminal.
 * Cells are painted with 256 colours, otherwise they are characters that differ without colour, too. Returns
 * the number of lines, or -1: no memory.
 */
int diagram_draw(FILE *out, const struct terminal *terminal, int rows, const struct diagram_runs *runs,
    struct error *error);

/* The same over any plane of the grid's shape, panel by panel, with one legend. `beside`: lines of other
 * output that must fit on the screen with a panel. -1: no memory. */
int diagram_draw_panels(FILE *out, const struct terminal *terminal, int beside, const struct plane *plane,
    const struct panels *panels, const struct diagram_runs *runs, struct error *error);

/* Gives a cell the look, except its text, that the diagram has for this word ("growing", "diverged").
 * False: the diagram does not have the word. */
bool diagram_cell(const char *word, struct plot_cell *cell);

#endif
