#ifndef NORMSWEEP_DRIVER_DATASET_WRITE_H
#define NORMSWEEP_DRIVER_DATASET_WRITE_H

#include "driver/dataset/dataset.h"
#include "driver/tables/dataset_tables.h"

/* Writes waiting results: values, sync, outcomes, sync. Once this returns 0, they are durable. */
int dataset_commit(struct dataset *dataset, struct error *error);

/* Deaths of each run's workers since its last checkpoint [sweep->cells]. Borrowed. */
const int *dataset_deaths(const struct dataset *dataset);

int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error);

/* Keeps a run's result for dataset_commit, which makes all results durable with two syncs. */
int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error);

/* The phase that a result is stored with. */
enum phase dataset_phase(const struct result *result);

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

/* This start's row of the session table. */
int64_t dataset_session(const struct dataset *dataset);

/*
 * Records that a run starts, or resumes at step `from` (0: from the beginning): sets outcome running, session
 * and host, and increments attempts. Clears the values of earlier attempts, except rows at steps below
 * `from`, which the run sends again. Visible at the next flush, without a sync.
 */
int dataset_start(struct dataset *dataset, int64_t cell, const char *host, int64_t from, struct error *error);

#endif
