#ifndef NORMSWEEP_DRIVER_JOB_JOB_H
#define NORMSWEEP_DRIVER_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/job/progress.h"
#include "driver/output/lease.h"
#include "driver/schedule/coordinator.h"
#include "worker/checkpoint/mark.h"
#include "worker/checkpoint/set.h"
#include "worker/train/train.h"

/*
 * A sweep that runs: its dataset, its coordinator and its progress, kept in step. What is common to training
 * in this process (local) and on other ranks (dispatch). The first error sticks: what follows it writes
 * nothing, and whoever drives the job ends it.
 */
struct job {
    const struct sweep *sweep;
    const struct corpus *corpus;
    struct lease *lease;
    struct dataset *dataset;
    struct coordinator *coordinator;
    struct progress *progress;
    double
        *growth; /* [cells] norm_growth for the map of the progress, NaN: not known; NULL: there is no map */
    struct tally tally;
    char *folder; /* OUT.nc.d */
    char mark[MARK_SIZE]; /* in it, while workers of other processes may write there; "": none does */
    bool had_folder; /* it was there before this start */
    bool failed;
    struct error error; /* where failed */
    int64_t waiting; /* results that are not committed */
    struct checkpoint_set kept; /* runs that earlier starts have left checkpoints of */
    bool *saved; /* [cells] the run may have checkpoints of this start */
    int64_t *spent; /* [spent_count] cells among the waiting that may have files: they go with the commit */
    int64_t spent_count, spent_size;
    double committed, flushed, renewed, told; /* when that was last done */
    double pause; /* from a commit to the next */
};

/* What is borrowed lives until job_close. -1 with the line in error. */
int job_open(struct job *job, const struct sweep *sweep, const struct corpus *corpus, struct lease *lease,
    const struct session *session, const struct dataset_options *options, int workers, struct error *error);

/* Before workers of other processes are told of the folder: leaves the mark there. -1 with the line in error.
 */
int job_mark(struct job *job, struct error *error);

/* Before a worker that comes later looks for the mark: leaves it again where a cleaner of old files has
 * removed it. job_breathe does so, too, with each renewal of the lease. */
void job_renew_mark(const struct job *job);

/* Commits what waits and closes; the first error of the whole job, or 0. */
int job_close(struct job *job, struct error *error);

/* Keeps the first error. */
void job_fail(struct job *job, const struct error *error);

/* The same where the dataset itself is sound: what waits is committed first. */
void job_break_off(struct job *job, const struct error *error);

/* The run of a cell, and what it is expected to cost. */
double job_run(const struct job *job, int64_t cell, struct run *run);

/* Names what this start writes beside the dataset. Its row in the session table; or more, where checkpoints
 * lie there of a dataset that is no more, which would otherwise pass for the newer ones. */
int64_t job_session(const struct job *job);

/* What names a run's files. */
void job_digest(const struct job *job, int64_t cell, struct digest *digest);

/* May there be checkpoints of a run? */
bool job_has_files(const struct job *job, int64_t cell);

/* A worker is at a step of its run; the first word of a run makes it running, from that step on. */
void job_step(struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step,
    int64_t tokens, double now);

/* A row of measurements, or the `count` values from `offset` on. */
void job_row(struct job *job, int worker, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count);

/* A run has a checkpoint: once it has ended, and that is kept for good, it goes. */
void job_checkpoint(struct job *job, int64_t cell);

/* Obeys ORDER_ACCEPT (with its result), ORDER_RETURN or ORDER_FAIL (with what its worker left to say, or
 * ""). */
void job_settle(
    struct job *job, const struct order *order, const struct result *result, const char *last_words);

/* What is due from time to time: commits, flushes, the lease, progress. To be called often; cheap. */
void job_breathe(struct job *job, double now);

/* Cells that have not ended. */
int64_t job_pending(const struct job *job);

#endif
