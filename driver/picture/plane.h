#ifndef NORMSWEEP_DRIVER_PICTURE_PLANE_H
#define NORMSWEEP_DRIVER_PICTURE_PLANE_H

#include "driver/picture/shape.h"
#include "driver/terminal/plot.h"

/*
 * Two dimensions of a shape that are drawn; the others are fixed, or averaged over. By default learning_rate
 * is x and weight_decay is y if they are open, otherwise the first open dimensions; the seed only if nothing
 * else is open.
 */
struct side {
    int dimension; /* index in the shape; PLANE_NONE: none, and length is 1 */
    int64_t length;
    int64_t *place; /* [length] position at which each index is drawn; numbers ascend */
    struct plot_axis axis;
};

struct plane {
    const struct shape *shape; /* borrowed */
    struct side x, y;
};

enum { PLANE_CHOOSE = -2, PLANE_NONE = -1 };

/* `x`, `y`: dimensions of the shape, or PLANE_NONE; or both PLANE_CHOOSE, for the default. -1: no memory. */
int plane_init(struct plane *plane, const struct shape *shape, int x, int y, struct error *error);
void plane_release(struct plane *plane);

/* The cell of the plane (y.length rows of x.length, in the order drawn) that value `index` of the shape
 * belongs to; -1: none, as a fixed dimension has another value there. */
int64_t plane_cell(const struct plane *plane, int64_t index);

enum { PLANE_NAMES = 512 };

/* The names of the open dimensions that are not drawn, except `left_out`, joined by ", ". Returns text. */
char *plane_others(const struct plane *plane, const char *left_out, char *text, size_t size);

/* " at seed=0, step=100": the fixed dimensions; "" if there are none. Returns text. */
char *plane_fixed(const struct shape *shape, char *text, size_t size);

#endif
