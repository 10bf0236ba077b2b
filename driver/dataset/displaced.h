#ifndef NORMSWEEP_DRIVER_DATASET_DISPLACED_H
#define NORMSWEEP_DRIVER_DATASET_DISPLACED_H

#include "driver/dataset/dataset.h"
#include "model/core/breath.h"

/*
 * A dataset is displaced when its path no longer leads to the open file, because somebody has renamed,
 * replaced or removed it. This process still has the file, and writes to no other.
 */

/* Is the dataset displaced? False if that is unknown: a server or disk may hide a file for a moment. */
bool dataset_is_displaced(const struct dataset *dataset);

/*
 * Lets the values of a displaced dataset outlive this process. A renamed file stays where it is. A file
 * without a name is copied to OUT.nc.ours, or OUT.nc.ours.1 and so on if that exists; from then on the copy
 * is written. May be called again. `line` says what happened, where the results are and what to do,
 * ERROR_ENVIRONMENT. -1: the file could not be copied, and `line` says why.
 */
int dataset_keep(struct dataset *dataset, const struct breath *breath, struct error *line);

/* The same where no process has the file any more, between the steps of a start or at its end. `another`: a
 * file is at the path, but not the one that this start has opened. Always -1, with the error set. */
int dataset_gone(const char *name, bool another, struct error *error);

#endif
