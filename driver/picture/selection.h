#ifndef NORMSWEEP_DRIVER_PICTURE_SELECTION_H
#define NORMSWEEP_DRIVER_PICTURE_SELECTION_H

#include "driver/picture/shape.h"

/* What of a dataset is looked at, as a command line says it. */
struct selection {
    const char *const *at; /* [at_count] "seed=0,norm_placement=pre" */
    int at_count;
    const char *over; /* "learning_rate,seed"; NULL: not said */
};

/* Fixes what `at` names. -1 and ERROR_INPUT, beginning with `about`: unknown or repeated names, unknown
 * values. */
int selection_fix(
    const struct selection *selection, struct shape *shape, const char *about, struct error *error);

/*
 * The dimensions of the shape that `over` names, at most `most`, into which[most]; their number, 0 where it
 * is not said. -1 and ERROR_INPUT: unknown, repeated, fixed or too many names.
 */
int selection_over(const struct selection *selection, const struct shape *shape, int most, int *which,
    const char *about, struct error *error);

#endif
