#ifndef NORMSWEEP_WORKER_CHECKPOINT_H
#define NORMSWEEP_WORKER_CHECKPOINT_H

#include "model/error.h"
#include "model/transformer.h"

/*
 * Writes weights as a netCDF file (CDF-5) that xarray opens: one variable per kind of tensor, those of the
 * layers with a leading dimension `layer`, matrices [out, in]. Written under a temporary name, synced and
 * renamed, so that a file that has its name is whole. -1: ERROR_ENVIRONMENT, and nothing is left behind.
 */
int checkpoint_save_weights(const char *path, const struct architecture *architecture,
    const struct weight_layout *layout, const scalar *weights, struct error *error);

#endif
