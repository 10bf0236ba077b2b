#ifndef NORMSWEEP_WORKER_SAVE_H
#define NORMSWEEP_WORKER_SAVE_H

#include "model/digest.h"
#include "model/error.h"
#include "model/transformer.h"
#include "worker/train.h"

/* Saves a run's final weights as FOLDER/<digest>.weights.nc, by the run's digest; makes the folder. */
int save_weights(const char *folder, const struct digest *digest, const struct transformer *model,
    const scalar *weights, struct error *error);

/* A run whose weights could not be saved has failed. */
void save_failed(struct result *result, const struct error *error);

#endif
