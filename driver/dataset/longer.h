#ifndef NORMSWEEP_DRIVER_DATASET_LONGER_H
#define NORMSWEEP_DRIVER_DATASET_LONGER_H

#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "model/core/error.h"

/*
 * A sweep with more `steps` than the dataset at its output, whose runs have kept states to carry on from. The
 * dataset becomes OUT.nc.<its steps>.old, and the files of its runs, but not the states, go to the folder
 * OUT.nc.<its steps>.old.d. So no dataset is ever replaced, as OUT.nc.old is by --fresh.
 */
struct longer {
    int64_t shorter; /* `steps` of the dataset; 0: the sweep has not grown */
    int64_t runs, kept; /* runs of the sweep; those that have a state to carry on from */
};

/* The name that the dataset at a path gets; with shorter 0, that which --fresh gives it. The caller frees it;
 * NULL: no memory. */
char *longer_old(const char *path, int64_t shorter);

/* Only reads. -1 with *longer as it was: ERROR_INPUT if the dataset's new name is taken, else
 * ERROR_ENVIRONMENT. */
int longer_find(struct longer *longer, const char *output, const struct sweep *sweep,
    const struct corpus *corpus, int64_t shorter, struct error *error);

#endif
