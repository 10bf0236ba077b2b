#ifndef NORMSWEEP_WORKER_CHECKPOINT_H
#define NORMSWEEP_WORKER_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/breath.h"
#include "model/digest.h"
#include "model/error.h"
#include "worker/train.h"

/*
 * Checkpoints of runs: netCDF files (CDF-5) that xarray opens. FOLDER/<digest of the run>-<session>-<ticket>-
 * <step>.nc holds all that the run is before that step; <digest>.weights.nc, in the same form, the final
 * weights alone. A file that has its name is whole, and what has altered it since is found out.
 */

/* Whose a checkpoint is, and when it was made: its name. Newer ones have the larger session, of one session
 * the larger ticket, of one ticket the larger step. */
struct checkpoint_name {
    struct digest digest; /* of the run */
    int64_t session; /* of the dataset's session table */
    uint64_t ticket; /* of the handing-out of the run */
    int64_t step;
};

#define CHECKPOINT_NAME_SIZE 96

/* The file's name without its folder. Returns text. */
char *checkpoint_format(const struct checkpoint_name *name, char text[CHECKPOINT_NAME_SIZE]);

/* False: this is no checkpoint's name. */
bool checkpoint_parse(const char *text, struct checkpoint_name *name);

/* Calls `visit` for every checkpoint in a folder, in no order; a folder that is not there has none. -1:
 * ERROR_ENVIRONMENT. */
int checkpoint_walk(const char *folder, void (*visit)(void *context, const struct checkpoint_name *name),
    void *context, struct error *error);

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

/* Removes all checkpoints of a run, but not its final weights. -1: ERROR_ENVIRONMENT. */
int checkpoint_remove(const char *folder, const struct digest *digest, struct error *error);

/* The same of all runs, with whatever was left half-written, by anyone: where nothing runs and nothing is to
 * go on. */
int checkpoint_clear(const char *folder, struct error *error);

#endif
