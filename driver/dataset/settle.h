#ifndef NORMSWEEP_DRIVER_DATASET_SETTLE_H
#define NORMSWEEP_DRIVER_DATASET_SETTLE_H

#include "driver/dataset/ledger.h"

/*
 * Ensures that there is a file of this sweep at the path of a dataset, whose layout is that of the sweep:
 * makes it, leaves it as it is, or puts a new one in its place. A dataset with a prospect is only told what
 * would be done, and the error that there would be; then nothing is written. -1 with the error set, and the
 * file as it was.
 */
int dataset_settle(struct dataset *dataset, const struct dataset_options *options, struct error *error);

#endif
