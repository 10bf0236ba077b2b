#ifndef NORMSWEEP_DRIVER_PICTURE_SHAPE_H
#define NORMSWEEP_DRIVER_PICTURE_SHAPE_H

#include "driver/dataset/variables.h"
#include "driver/dataset/view.h"

/* The dimensions of something to be looked at, and the values that stand along each. */
struct dimension {
    const char *name; /* borrowed from the axis or the variable */
    int64_t length;
    double *number; /* [length]; NULL: they are words */
    char **word; /* [length], clean; NULL: they are numbers */
    int64_t fixed; /* the one index that is looked at; -1: all */
};

struct shape {
    int count;
    struct dimension dimension[VIEW_DIMENSIONS_MAX];
    int64_t size; /* the product of their lengths */
};

/* Of a grid. -1: no memory, and nothing held. */
int shape_of_axes(struct shape *shape, int64_t axis_count, const struct axis *axis, struct error *error);

/* Of a variable, which is to outlive it: what the file says along its dimensions, places where that is
 * nothing. */
int shape_of_variable(
    struct shape *shape, const struct view *view, const struct view_variable *variable, struct error *error);

void shape_release(struct shape *shape);

/* How many values each run of a view has in a variable of this shape, one run's after another's; 0: it is not
 * of runs. */
int64_t shape_values_a_run(const struct shape *shape, const struct view *view);

/* The index of the dimension of that name, or -1. */
int shape_find(const struct shape *shape, const char *name);

/* Has it more than one value to be looked at? */
static inline bool dimension_is_open(const struct dimension *dimension)
{
    return dimension->length > 1 && dimension->fixed < 0;
}

enum { DIMENSION_LABEL = 24 };

/* Value `index` for people: a word, cut where it is long, or a number of `digits`; whole ones are whole.
 * Returns label. */
char *dimension_label(
    const struct dimension *dimension, int64_t index, int digits, char label[DIMENSION_LABEL]);

/* The digits, 3 or more, with which all its labels differ. */
int dimension_digits(const struct dimension *dimension);

#endif
