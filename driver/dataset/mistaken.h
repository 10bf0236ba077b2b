#ifndef NORMSWEEP_DRIVER_DATASET_MISTAKEN_H
#define NORMSWEEP_DRIVER_DATASET_MISTAKEN_H

#include "model/core/error.h"

/* What is at this path has been refused as a dataset, for which `error` has the reason: a better one where it
 * is a sweep file that has its dataset beside it. */
void mistaken_dataset(const char *path, struct error *error);

#endif
