#ifndef NORMSWEEP_DRIVER_PLANE_H
#define NORMSWEEP_DRIVER_PLANE_H

#include "driver/plot.h"
#include "driver/view.h"

/*
 * Two dimensions of a variable, to be looked at; the others are taken together. learning_rate lies along x
 * and weight_decay along y where they are axes; else the first dimensions with more than one value.
 */
struct side {
    int dimension; /* of the variable; -1: none, length 1 */
    int64_t length;
    int64_t *place; /* [length] where each index along the dimension is drawn: numbers ascend */
    struct plot_axis axis;
};

struct plane {
    struct view_variable variable; /* of which it is a plane */
    struct side x, y;
};

/* -1: no memory. */
int plane_init(
    struct plane *plane, const struct view *view, const struct view_variable *variable, struct error *error);
void plane_release(struct plane *plane);

/* The cell of the plane (y.length rows of x.length, in the order drawn) in which value `index` falls. */
int64_t plane_cell(const struct plane *plane, int64_t index);

/* Prints "out.nc: what: the sweep's title". */
void plane_title(FILE *out, const struct view *view, const char *what);

enum { PLANE_NAMES = 512 };

/* The names of the dimensions that are taken together, with more than one value each, ", " between; "" if
 * none. `left_out` is not named. Returns text. */
char *plane_others(const struct plane *plane, const char *left_out, char *text, size_t size);

#endif
