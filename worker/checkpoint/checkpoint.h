#ifndef NORMSWEEP_WORKER_CHECKPOINT_CHECKPOINT_H
#define NORMSWEEP_WORKER_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/breath.h"
#include "model/core/digest.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * Checkpoints of runs: netCDF files (CDF-5) that xarray opens. FOLDER/<digest of the run>-<session>-<ticket>-
 * <step>.nc holds all that the run is before that step; <digest>.weights.nc, in the same form, the final
 * weights alone. A file that has its name is whole, and what has altered it since is found out.
 */

/* Who makes and uses checkpoints: of which run, in which folder, in which session and handing-out. */
struct checkpoint_owner {
    const char *folder; /* borrowed */
    struct digest digest;
    int64_t session;
    uint64_t ticket;
    const char *mark; /* of the coordinator, without which nothing is to be written; NULL: none. Borrowed */
    const struct breath *breath; /* while files are read and written; or NULL. Borrowed */
};

/*
 * Saves a run as its newest checkpoint; makes the folder where the owner has no mark, removes all of the run
 * but the two newest and what an earlier save has left half-done. Durable when it returns 0. -1:
 * ERROR_ENVIRONMENT, nothing is left behind and the earlier ones are untouched.
 */
int checkpoint_save(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

/*
 * Fills the snapshot from the run's newest checkpoint that is whole and was made with this BLAS kernel,
 * vector level and scalar: 1. 0: there is none; the snapshot's planes then hold anything. Damaged ones are
 * removed, others left; each is told to `say` (which may be NULL) in a line that ends with what comes of it.
 * -1: ERROR_ENVIRONMENT.
 */
int checkpoint_load(const struct checkpoint_owner *owner, struct snapshot *snapshot,
    void (*say)(void *context, const char *line), void *context, struct error *error);

/* Saves the weights alone as FOLDER/<digest>.weights.nc; else as checkpoint_save. */
int checkpoint_save_weights(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

#endif
