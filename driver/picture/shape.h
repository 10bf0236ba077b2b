#ifndef NORMSWEEP_DRIVER_PICTURE_SHAPE_H
#define NORMSWEEP_DRIVER_PICTURE_SHAPE_H

#include "driver/dataset/variables.h"
#include "driver/dataset/view.h"

/* A dimension of something that is drawn, with its values. */
struct dimension {
    const char *name; /* borrowed from the axis or the variable */
    int64_t length;
    double *number; /* [length]; NULL: the values are words */
    char **word; /* [length], without control characters; NULL: the values are numbers */
    int64_t fixed; /* the only index to draw; -1: all */
};

struct shape {
    int count;
    struct dimension dimension[VIEW_DIMENSIONS_MAX];
    int64_t size; /* product of the lengths */
};

/* The shape of a grid. -1: no memory, nothing to release. */
int shape_of_axes(struct shape *shape, int64_t axis_count, const struct axis *axis, struct error *error);

/* The shape of a variable, which must outlive it. Values come from the file's coordinates; dimensions
 * without one have the indices 0, 1, ... -1: no memory, nothing to release. */
int shape_of_variable(
    struct shape *shape, const struct view *view, const struct view_variable *variable, struct error *error);

void shape_release(struct shape *shape);

/* The number of values of each run in a variable of this shape, stored run by run; 0: the variable is not
 * over runs. */
int64_t shape_values_a_run(const struct shape *shape, const struct view *view);

/* The index of the dimension of that name, or -1. */
int shape_find(const struct shape *shape, const char *name);

/* Is more than one value drawn? */
static inline bool dimension_is_open(const struct dimension *dimension)
{
    return dimension->length > 1 && dimension->fixed < 0;
}

/* Is it the axis of repeats, the seed? Runs that differ in it alone are averaged. */
bool dimension_is_repeat(const struct dimension *dimension);

enum { DIMENSION_LABEL = 24 };

/* Formats value `index`: a word, cut to fit, or a number with `digits` significant digits, integers with
 * all of them. Returns label. */
char *dimension_label(
    const struct dimension *dimension, int64_t index, int digits, char label[DIMENSION_LABEL]);

/* The number of digits, at least 3, with which all labels differ. */
int dimension_digits(const struct dimension *dimension);

#endif
