#ifndef NORMSWEEP_DRIVER_DATASET_MISTAKEN_H
#define NORMSWEEP_DRIVER_DATASET_MISTAKEN_H

#include "model/core/error.h"

/* Improves the error after `path` was refused as a dataset: if it is named like a sweep file, names the
 * dataset beside it, or says that one is needed. */
void mistaken_dataset(const char *path, struct error *error);

#endif
