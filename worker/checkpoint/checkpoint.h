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
 * <step>.nc holds the whole state of the run before that step; <digest>.weights.nc holds only the final
 * weights, in the same form. A file with such a name was written completely; later damage is detected.
 */

/* The owner of checkpoints: a run, its folder, session and ticket. */
struct checkpoint_owner {
    const char *folder; /* borrowed */
    struct digest digest;
    int64_t session;
    uint64_t ticket;
    int64_t last; /* load none of a later step; 0: load any */
    bool shared; /* other runs save under this digest at the same time, each in a session of its own */
    const char *mark; /* of the coordinator: write only while it exists; NULL: always write. Borrowed */
    const struct breath *breath; /* called while files are read and written; or NULL. Borrowed */
};

/*
 * Saves a run as its newest checkpoint. Makes the folder if the owner has no mark. Removes all checkpoints of
 * the run but the two newest, and the remains of unfinished saves; if the digest is shared, only those of its
 * own session. Durable when it returns 0. -1 with ERROR_ENVIRONMENT: leaves no unfinished file and does not
 * touch earlier checkpoints.
 */
int checkpoint_save(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

/*
 * Fills the snapshot from the newest checkpoint of the run that is intact and was made with this BLAS kernel,
 * vector level and scalar, and returns 1. Returns 0 if there is none; the planes of the snapshot then hold
 * anything. Removes damaged checkpoints and keeps others that cannot be used; passes a line about each, with
 * the consequence, to `say` (which may be NULL). -1: ERROR_ENVIRONMENT.
 */
int checkpoint_load(const struct checkpoint_owner *owner, struct snapshot *snapshot,
    void (*say)(void *context, const char *line), void *context, struct error *error);

/* Says which checkpoint checkpoint_load would use: 1 and its step, or 0: none. Reads the same files, says
 * nothing, and leaves damaged ones where they are. -1: ERROR_ENVIRONMENT. */
int checkpoint_look(const struct checkpoint_owner *owner, int64_t *step, struct error *error);

/* Like checkpoint_save, but saves only the weights, as FOLDER/<digest>.weights.nc, and removes nothing. */
int checkpoint_save_weights(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

#endif
