#ifndef NORMSWEEP_DRIVER_DATASET_LEDGER_LEDGER_H
#define NORMSWEEP_DRIVER_DATASET_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/dataset/extend/extend.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "model/core/breath.h"
#include "model/core/error.h"
#include "worker/train/train.h"

/*
 * The dataset is the ledger of a sweep: a CDF-5 file that is laid out and filled completely before it gets
 * its name, then written in place; dataset.c explains the order of writes, with which it survives a crash at
 * any moment.
 */
struct dataset;

/* One row of the session table, which describes one start of the program. Texts are borrowed. */
struct session {
    const char *version, *commit, *compiler, *blas, *blas_kernel, *vector_level, *mpi, *host, *bad_hosts;
};

/*
 * Opens the sweep's output for writing: creates it, or continues a file of the same sweep, or extends a file
 * if the axes have gained values (writes a new file beside it, syncs and renames it; keeps finished runs).
 * Running cells become pending; those without a checkpoint in the output's folder count a death. The sweep is
 * borrowed until dataset_close, the corpus and the session only for this call. Without a session (NULL), for
 * callers that run nothing, no row of the session table is used. On failure -1: ERROR_INPUT if the output
 * cannot be written, is not a dataset of this program, or holds a different sweep (the message names every
 * difference); ERROR_ENVIRONMENT for I/O.
 */
int dataset_open(struct dataset **dataset, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct session *session, const struct dataset_options *options,
    struct error *error);

/* Has dataset_open set the file of a shorter sweep aside, because steps has grown? Borrowed. */
const struct grown_steps *dataset_grown(const struct dataset *dataset);

/* Drops everything that is not in the file yet, after another process has taken over the output. */
void dataset_forget(struct dataset *dataset);

/* Syncs and closes; takes NULL. Drops results that wait for a commit; their runs stay running. */
int dataset_close(struct dataset *dataset, struct error *error);

/* What an open dataset holds in memory for each cell, besides results that wait. */
enum { DATASET_CELL_BYTES = 1 + 2 * sizeof(int) };

/* The outcome of every cell [sweep->cells], kept up to date by the calls below. Borrowed. */
const signed char *dataset_outcomes(const struct dataset *dataset);

/* Makes everything written visible to readers, without a sync. Call it at least every 2 s. */
int dataset_flush(struct dataset *dataset, struct error *error);

/* Writes waiting results: values, sync, outcomes, sync. Once this returns 0, they are durable. */
int dataset_commit(struct dataset *dataset, struct error *error);

/* Deaths of each run's workers since its last checkpoint [sweep->cells]. Borrowed. */
const int *dataset_deaths(const struct dataset *dataset);

int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error);

/* Keeps a run's result for dataset_commit, which makes all results durable with two syncs. The run ends now.
 */
int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error);

/* Makes a running run pending again, without values of its end. */
int dataset_return(struct dataset *dataset, int64_t cell, struct error *error);

/* Skips a cell whose result is not needed, with the reason, and the phase that the runs around it imply, and
 * clears the values of a run that was begun; or makes such a cell pending. No effect on other cells that have
 * ended, or are pending already. */
int dataset_leave(
    struct dataset *dataset, int64_t cell, const char *reason, enum phase phase, struct error *error);
int dataset_need(struct dataset *dataset, int64_t cell, struct error *error);

/*
 * Writes a row of measurements (metric_row_size of the run's metric_form), or a part of it: `count` values
 * from `offset` on. The row of the whole run, STEP_OF_RUN, comes before the run's result and waits with it
 * for dataset_commit; if the run returns or fails instead, the row is dropped. So the file has values of a
 * whole run only where the run has ended, or if a crash between the two syncs has cost it its outcome. The
 * norms of fits, which a done run sends with its rows again, are written at once; they are cleared if the run
 * then returns or fails. dataset_has_values says whether the run has these values; others are a defect of the
 * caller.
 */
bool dataset_has_values(
    const struct dataset *dataset, int64_t cell, int64_t step, size_t offset, size_t count);
int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error);

/* The speed of a sweep; NaN: unknown. */
struct pace {
    double seconds_left, tokens_per_second, workers, runs;
};

/* Writes the pace to this start's row of the session table. Visible at the next flush, without a sync. */
int dataset_put_pace(struct dataset *dataset, const struct pace *pace, struct error *error);

/* The same for the hosts that get no more runs, separated by blanks. */
int dataset_put_bad_hosts(struct dataset *dataset, const char *hosts, struct error *error);

/* This start's row of the session table. */
int64_t dataset_session(const struct dataset *dataset);

/*
 * Records that a run starts, or resumes at step `from` (0: from the beginning), on a worker, counted from 1:
 * sets outcome running, session, host, worker and begin, and increments attempts. Clears the values of
 * earlier attempts, except rows at steps below `from`, which the run sends again. Visible at the next flush,
 * without a sync.
 */
int dataset_start(
    struct dataset *dataset, int64_t cell, const char *host, int worker, int64_t from, struct error *error);

/* Its steps and lengths. Borrowed. */
const struct layout *dataset_layout(const struct dataset *dataset);

/*
 * Reads values that were written, also those that wait for a commit: `metric` is one number of the whole run
 * (1 value) or of a step (step_count values, NaN at steps that the run does not measure). NaN where the
 * dataset has none. On failure -1.
 */
int dataset_read(
    struct dataset *dataset, int64_t cell, enum metric metric, double *values, struct error *error);

/*
 * A dataset has moved when its path no longer leads to the open file, because somebody has renamed,
 * replaced or removed it. This process still has the file, and writes to no other.
 */

/* Has the dataset moved? False if that is unknown: a server or disk may hide a file for a moment. */
bool dataset_is_moved(const struct dataset *dataset);

/*
 * Lets the values of a moved dataset outlive this process. A renamed file stays where it is. A file
 * without a name is copied to OUT.nc.ours, or OUT.nc.ours.1 and so on if that exists; from then on the copy
 * is written. May be called again. `line` says what happened, where the results are and what to do,
 * ERROR_ENVIRONMENT. -1: the file could not be copied, and `line` says why.
 */
int dataset_keep(struct dataset *dataset, const struct breath *breath, struct error *line);

#endif
