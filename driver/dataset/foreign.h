#ifndef NORMSWEEP_DRIVER_DATASET_FOREIGN_H
#define NORMSWEEP_DRIVER_DATASET_FOREIGN_H

#include "driver/dataset/ledger.h"

/*
 * Copies what other programs have added to the file of `view` into the new file at `path`, which is laid out:
 * global attributes, attributes of variables, variables with their dimensions, the history. -1: something
 * cannot be kept, as its variable is over a dimension that changes; then ERROR_INPUT names it. Or
 * ERROR_ENVIRONMENT.
 */
int foreign_copy(
    const struct view *view, const struct mapping *mapping, const char *path, struct error *error);

#endif
