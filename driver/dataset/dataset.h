#ifndef NORMSWEEP_DRIVER_DATASET_DATASET_H
#define NORMSWEEP_DRIVER_DATASET_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * The dataset is the ledger of a sweep: a CDF-5 file laid out and filled whole before it gets its name, then
 * written in place; see dataset.c for the order of writes that lets it survive a crash at any moment.
 */
struct dataset;

/* Deaths of its workers, with no checkpoint in between, after which a run has failed. */
enum { DEATHS_MOST = 3 };

/* What a start of the program says of itself: one row of the session table. */
struct session {
    const char *version, *commit, *compiler, *blas, *blas_kernel, *vector_level, *mpi, *host;
};

/* How an existing output may be met. */
struct dataset_options {
    bool fresh; /* rename an existing file to OUT.nc.old and begin anew */
    bool retry_failed; /* make failed runs pending */
};

/*
 * Opens the sweep's output for writing: creates it, or carries on with a file that holds the same sweep, or
 * extends one whose axes have gained values (written anew beside it, synced, renamed; finished runs kept).
 * Running cells become pending. The sweep is borrowed until dataset_close, the corpus and the session for
 * this call alone; no session: nothing will run, so that no row of the session table is taken. On failure -1:
 * ERROR_INPUT for an output that cannot be written, is no dataset of this program, or holds a sweep that
 * differs (every differing key named), ERROR_ENVIRONMENT for I/O.
 */
int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error);

/* Forgets what was put and has not reached the file, which is another process's to write. */
void dataset_forget(struct dataset *dataset);

/* Syncs and closes; takes NULL. Results that wait for a commit are dropped: their runs stay running. */
int dataset_close(struct dataset *dataset, struct error *error);

/* The outcome of every cell [sweep->cells], kept up to date by the calls below. Borrowed. */
const signed char *dataset_outcomes(const struct dataset *dataset);

/* Lets readers see what was written (no sync); to be called at least every 2 s. */
int dataset_flush(struct dataset *dataset, struct error *error);

#endif
