#ifndef NORMSWEEP_DRIVER_PICTURE_DIAGRAM_H
#define NORMSWEEP_DRIVER_PICTURE_DIAGRAM_H

#include "driver/picture/plane.h"
#include "driver/terminal/terminal.h"

/* How the runs of a grid stand. */
struct diagram_runs {
    int64_t axis_count;
    const struct axis *axis; /* [axis_count] */
    int64_t cells; /* the product of the axes' lengths */
    const signed char *outcome; /* [cells] of enum outcome */
    const double *growth; /* [cells] norm_growth, NaN where it is not known; NULL: it is not known of any */
    bool live; /* where runs are under way is to be seen before anything else */
};

/*
 * The phase diagram: where norms have grown and where they have shrunk, over learning_rate and weight_decay
 * or else the first two axes with more than one value; the mean of norm_growth over the others decides. With
 * it its legend. Prints at most `rows` lines (0: any number), none wider than the terminal: painted where
 * there are 256 colours, else of characters that are told apart without colour. The number of lines, or -1:
 * no memory.
 */
int diagram_draw(FILE *out, const struct terminal *terminal, int rows, const struct diagram_runs *runs,
    struct error *error);

/* The same over any plane of the grid's shape, `beside` lines of something else to be seen with it. */
int diagram_draw_plane(FILE *out, const struct terminal *terminal, int rows, int beside,
    const struct plane *plane, const struct diagram_runs *runs, struct error *error);

/* Makes a cell look, text aside, as the diagram has what is called so ("growing", "diverged"); false: nothing
 * there is. */
bool diagram_cell(const char *word, struct plot_cell *cell);

#endif
