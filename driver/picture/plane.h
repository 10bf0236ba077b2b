#ifndef NORMSWEEP_DRIVER_PICTURE_PLANE_H
#define NORMSWEEP_DRIVER_PICTURE_PLANE_H

#include "driver/picture/shape.h"
#include "driver/terminal/plot.h"

/*
 * Two dimensions of a shape, to be looked at; the others are fixed or taken together. learning_rate lies
 * along x and weight_decay along y where they are open; else the first open dimensions do.
 */
struct side {
    int dimension; /* of the shape; -1: none, length 1 */
    int64_t length;
    int64_t *place; /* [length] where each index along the dimension is drawn: numbers ascend */
    struct plot_axis axis;
};

struct plane {
    const struct shape *shape; /* borrowed */
    struct side x, y;
};

enum { PLANE_CHOOSE = -2, PLANE_NONE = -1 };

/* Over dimensions x and y of the shape, or PLANE_NONE; PLANE_CHOOSE for both: as above. -1: no memory. */
int plane_init(struct plane *plane, const struct shape *shape, int x, int y, struct error *error);
void plane_release(struct plane *plane);

/* The cell of the plane (y.length rows of x.length, in the order drawn) in which value `index` falls; -1: in
 * none, for a fixed dimension has another value there. */
int64_t plane_cell(const struct plane *plane, int64_t index);

enum { PLANE_NAMES = 512 };

/* The names of the open dimensions that are taken together, ", " between; "" if none. `left_out` is not
 * named. Returns text. */
char *plane_others(const struct plane *plane, const char *left_out, char *text, size_t size);

/* " at seed=0, step=100": what is fixed; "" where nothing is. Returns text. */
char *plane_fixed(const struct shape *shape, char *text, size_t size);

#endif
