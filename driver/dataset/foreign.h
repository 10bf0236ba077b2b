#ifndef NORMSWEEP_DRIVER_DATASET_FOREIGN_H
#define NORMSWEEP_DRIVER_DATASET_FOREIGN_H

#include "driver/dataset/ledger.h"

/*
 * The bytes that other programs have added to the file of `view`, and that the layout's file does not have:
 * 0: nothing was added; NaN: unknown.
 */
double foreign_bytes(const struct view *view, const struct layout *layout);

/*
 * Copies these additions into the new file at `path`, which is laid out: global attributes, attributes of
 * variables, variables with their dimensions. -1: something cannot be kept, because its variable is over a
 * dimension that changes, or has the name of a new axis; then ERROR_INPUT names it. Or ERROR_ENVIRONMENT.
 */
int foreign_check(const struct view *view, const struct mapping *mapping, const struct layout *layout,
    struct error *error); /* writes nothing; 0, too, if it is unknown */
int foreign_copy(const struct view *view, const struct mapping *mapping, const struct layout *layout,
    const char *path, struct error *error);

#endif
