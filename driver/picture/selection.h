#ifndef NORMSWEEP_DRIVER_PICTURE_SELECTION_H
#define NORMSWEEP_DRIVER_PICTURE_SELECTION_H

#include "driver/picture/shape.h"

/* The part of a dataset to draw, as given on the command line. */
struct selection {
    const struct view *view; /* the dataset, of which messages tell what all runs have in common */
    const char *const *at; /* [at_count] "seed=0,norm_placement=pre" */
    int at_count;
    const char *over; /* "learning_rate,seed"; NULL: not given */
};

/* Fixes the dimensions that `at` names. -1 and ERROR_INPUT, a message that begins with `about`: unknown or
 * repeated names, unknown values. */
int selection_fix(
    const struct selection *selection, struct shape *shape, const char *about, struct error *error);

/*
 * Stores the dimensions that `over` names in which[most]. Returns their number, 0 if `over` is NULL. -1 and
 * ERROR_INPUT: unknown, repeated, fixed, or more than `most` names.
 */
int selection_over(const struct selection *selection, const struct shape *shape, int most, int *which,
    const char *about, struct error *error);

#endif
