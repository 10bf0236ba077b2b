#ifndef NORMSWEEP_DRIVER_DATASET_MISTAKEN_H
#define NORMSWEEP_DRIVER_DATASET_MISTAKEN_H

#include "model/core/error.h"

/* Improves the error after `path` was refused as a dataset: if it is a sweep file with its dataset beside it,
 * names that dataset. */
void mistaken_dataset(const char *path, struct error *error);

#endif
