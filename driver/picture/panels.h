#ifndef NORMSWEEP_DRIVER_PICTURE_PANELS_H
#define NORMSWEEP_DRIVER_PICTURE_PANELS_H

#include "driver/dataset/view.h"
#include "driver/picture/plane.h"

/*
 * The panels of a picture: one for each combination of values of the sweep's axes that are neither drawn nor
 * fixed, as in the figures. Only runs that differ in nothing but the seed are repeats, over which a picture
 * may average.
 */
enum { PANELS_MOST = 6 };

struct panels {
    struct shape *shape; /* borrowed; whose dimensions are fixed, panel by panel */
    int dimension[VIEW_DIMENSIONS_MAX], dimensions; /* of the shape, in its order */
    int64_t combinations;
    int count; /* of panels: of the combinations at most PANELS_MOST, evenly spaced */
};

/* The plane's shape is `shape`; `view` names the axes of the sweep. */
void panels_init(
    struct panels *panels, struct shape *shape, const struct plane *plane, const struct view *view);

/* Fixes the dimensions of the shape to the values of panel `i`. */
void panels_fix(const struct panels *panels, int i);

/* Undoes it. */
void panels_open(const struct panels *panels);

/* Prints "norm_placement=pre, model=small", the values of panel `i`; nothing if it is the only one. */
void panels_print_title(const struct panels *panels, int i, FILE *out, int columns);

/* Prints which panels are not drawn, if any. */
void panels_print_rest(const struct panels *panels, FILE *out, int columns);

#endif
