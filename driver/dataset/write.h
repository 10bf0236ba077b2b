#ifndef NORMSWEEP_DRIVER_DATASET_WRITE_H
#define NORMSWEEP_DRIVER_DATASET_WRITE_H

#include "driver/dataset/dataset.h"

/* Values, sync, outcomes, sync. A result is kept for good once this has returned 0. */
int dataset_commit(struct dataset *dataset, struct error *error);

/* How many workers a run has killed since its last checkpoint; the array is [sweep->cells], borrowed. */
const int *dataset_deaths(const struct dataset *dataset);

int dataset_put_deaths(struct dataset *dataset, int64_t cell, int deaths, struct error *error);

/* How a run ended. Kept until dataset_commit, which makes all such results durable with two syncs. */
int dataset_result(struct dataset *dataset, int64_t cell, const struct result *result, struct error *error);

/* A running run is given up and will start anew: outcome pending. */
int dataset_return(struct dataset *dataset, int64_t cell, struct error *error);

/* A row of measurements (row_size of the run's metric_form) or a part of it: `count` values from `offset`
 * on. */
int dataset_row(struct dataset *dataset, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count, struct error *error);

/* How fast a sweep goes; NaN where that is not known. */
struct pace {
    double seconds_left, tokens_per_second, workers;
};

/* Puts it into this start's row of the session table. Visible at the next flush, no sync. */
int dataset_put_pace(struct dataset *dataset, const struct pace *pace, struct error *error);

/* This start's row of the session table. */
int64_t dataset_session(const struct dataset *dataset);

/*
 * A run has been handed out and goes on from step `from` (0: anew): outcome running, session, host, attempts
 * + 1; what an earlier attempt has left is wiped, but for its rows at steps below `from`, which come again.
 * Visible at the next flush, no sync.
 */
int dataset_start(struct dataset *dataset, int64_t cell, const char *host, int64_t from, struct error *error);

#endif
