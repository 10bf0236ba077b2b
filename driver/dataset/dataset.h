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

/* The words of enum outcome, as the dataset's flag_meanings have them. */
extern const char *const outcome_words[OUTCOME_COUNT];

/* Deaths of its workers, with no checkpoint in between, after which a run has failed. */
enum { DEATHS_MOST = 3 };

/* What became of a run's parameter norm, in the dataset's flag_values. */
enum phase {
    PHASE_NONE, /* the run has not ended, failed, or measured no norms */
    PHASE_GROWING, /* norm_growth above 1 */
    PHASE_SHRINKING,
    PHASE_DIVERGED,
    PHASE_COUNT,
};
extern const char *const phase_words[PHASE_COUNT];

/* The words of enum dynamics, likewise. */
extern const char *const dynamics_words[DYNAMICS_COUNT];

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

/* This start's row of the session table. */
int64_t dataset_session(const struct dataset *dataset);

/*
 * A run has been handed out and goes on from step `from` (0: anew): outcome running, session, host, attempts
 * + 1; what an earlier attempt has left is wiped, but for its rows at steps below `from`, which come again.
 * Visible at the next flush, no sync.
 */
int dataset_start(struct dataset *dataset, int64_t cell, const char *host, int64_t from, struct error *error);

/* A row of measurements (row_size of the run's metric_form) or a part of it: `count` values from `offset`
 * on. */
int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error);

/* How a run ended. Kept until dataset_commit, which makes all such results durable with two syncs. */
int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error);

/* A running run is given up and will start anew: outcome pending. */
int dataset_return(struct dataset *dataset, int64_t cell, struct error *error);

/* How many workers a run has killed since its last checkpoint; the array is [sweep->cells], borrowed. */
const int *dataset_deaths(const struct dataset *dataset);
int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error);

/* Lets readers see what was written (no sync); to be called at least every 2 s. */
int dataset_flush(struct dataset *dataset, struct error *error);

/* Values, sync, outcomes, sync. A result is kept for good once this has returned 0. */
int dataset_commit(struct dataset *dataset, struct error *error);

/* Bytes that the dataset of a sweep will take, exactly; NaN where they cannot be told. */
double dataset_size(const struct sweep *sweep, const struct corpus *corpus);

/*
 * Is this the name of a dimension or variable that any dataset may hold, parameters aside? No `together` axis
 * may be called so.
 */
bool dataset_reserves(const char *name);

#endif
