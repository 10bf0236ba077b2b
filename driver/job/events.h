#ifndef NORMSWEEP_DRIVER_JOB_EVENTS_H
#define NORMSWEEP_DRIVER_JOB_EVENTS_H

#include "driver/job/job.h"

/*
 * What happens in a job, for its log: docs/log.schema.json has the fields. Workers are numbered from 1 there,
 * as in messages. All do nothing if the job keeps no log.
 */

/* The job begins with so many workers; runs that are left to train, as far as is known. */
void events_sweep_begun(struct job *job, int workers, int64_t runs_left);

/* A worker trains a run from a step on; 0: from its start. */
void events_run_begun(
    struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step);

/* A run has a result, which is not committed yet. */
void events_run_ended(struct job *job, int worker, int64_t cell, const struct result *result);

/* A run that was under way is pending again. */
void events_run_returned(struct job *job, int worker, int64_t cell);

/* A worker has been given up, while it trained `cell`; -1: none. */
void events_worker_lost(
    struct job *job, int worker, const char *host, int rank, int64_t cell, const char *why);
void events_worker_replaced(struct job *job, int worker, const char *host, int rank);

#endif
