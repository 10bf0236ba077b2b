#ifndef NORMSWEEP_DRIVER_JOB_JOB_H
#define NORMSWEEP_DRIVER_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/job/chooser.h"
#include "driver/job/progress.h"
#include "driver/output/journal.h"
#include "driver/output/lease.h"
#include "driver/schedule/coordinator.h"
#include "worker/checkpoint/mark.h"
#include "worker/checkpoint/set.h"
#include "worker/train/train.h"

/*
 * A running sweep: keeps its dataset, its coordinator and its progress display consistent. Used for
 * training both in this process (local) and on other ranks (dispatch). After the first error nothing more is
 * written, and the caller ends the job.
 */
struct job {
    const struct sweep *sweep;
    const struct corpus *corpus;
    struct lease *lease;
    struct dataset *dataset;
    struct chooser *chooser;
    struct coordinator *coordinator;
    struct progress *progress;
    struct journal *journal; /* borrowed; NULL: the sweep has no log. See events.h */
    double *growth; /* [cells] norm_growth for the map of the progress, NaN: unknown; NULL: all unknown */
    struct tally tally;
    double cost_chosen; /* of all runs that were chosen and had not ended at the start */
    int64_t runs_chosen; /* their number */
    char *folder; /* OUT.nc.d */
    char mark[MARK_SIZE]; /* file in the folder, while other processes may write there; "": none */
    bool had_folder; /* the folder existed before this start */
    bool failed;
    struct error error; /* set if failed */
    bool lost; /* the lease, and so the dataset, belongs to another process */
    bool displaced; /* the dataset's path leads elsewhere: the caller stops the sweep as after a signal */
    int64_t waiting; /* results that are not committed yet */
    struct checkpoint_set kept; /* checkpoints of earlier starts */
    bool *saved; /* [cells] the run may have checkpoints of this start */
    int64_t *spent; /* [spent_count] ended cells whose files the next commit removes */
    int64_t spent_count, spent_size;
    double committed, flushed, renewed, looked, told; /* when each was last done */
    double pause; /* seconds between two commits */
};

/* Orders that a worker holds besides the one it trains, at most. With many of them, runs of milliseconds do
 * not wait for a coordinator that sleeps between messages or syncs results to the disk, which may take a
 * tenth of a second. The makespan does not grow; the rules for that are in driver/schedule/assignment.c. */
enum { JOB_ORDERS_AHEAD = 15 };

/* `workers`: on other ranks; 0: this process is the worker, and takes an order when it has ended the one
 * before. Pointers are borrowed until job_close. -1 with a message in error; the job is closed. */
int job_open(struct job *job, const struct sweep *sweep, const struct corpus *corpus, struct lease *lease,
    const struct session *session, const struct dataset_options *options, int workers, struct error *error);

/* From now on events go to this log, the beginning first. The journal is borrowed until job_close; NULL:
 * there is none. */
void job_keep_journal(struct job *job, struct journal *journal, int workers);

/* Writes the mark into the folder, before workers in other processes may use it. -1 with a message in
 * error. */
int job_mark(struct job *job, struct error *error);

/* Writes the mark again if a cleaner of old files has removed it, before a later worker looks for it; not
 * once the job has failed. So does job_breathe, with each renewal of the lease. */
void job_renew_mark(const struct job *job);

/* Commits waiting results and closes the job, once. Returns 0, or -1 with the job's first error, or if the
 * dataset was displaced, with the line that says where its results are. */
int job_close(struct job *job, struct error *error);

/* Marks the job as failed; the first error is kept. */
void job_fail(struct job *job, const struct error *error);

/* The same for an error that does not concern the dataset: commits waiting results first. */
void job_break_off(struct job *job, const struct error *error);

/* The session number in names of this start's files: its row in the session table, or a larger number if
 * the folder has checkpoints of a dataset that was removed, which would otherwise pass for newer ones. */
int64_t job_session(const struct job *job);

/* The digest that names a run's files. */
void job_digest(const struct job *job, int64_t cell, struct digest *digest);

/* May the run have checkpoints? */
bool job_has_files(const struct job *job, int64_t cell);

/* A worker reports the step of its run. The first report marks the run as running from that step on. */
void job_step(struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step,
    int64_t tokens);

/* A worker reports `count` values of a row of measurements, from index `offset` on; step STEP_OF_RUN: of the
 * row of the whole run. */
void job_row(struct job *job, int worker, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count);

/* A worker reports a checkpoint. It is removed once the run's result is committed. */
void job_checkpoint(struct job *job, int64_t cell);

/*
 * Carries out an order about a cell: ORDER_ACCEPT writes `result`; ORDER_FAIL writes a failure, with
 * `last_words`, the last line of the worker's log, or ""; ORDER_RETURN makes a run that was
 * under way pending again.
 */
void job_settle(
    struct job *job, const struct order *order, const struct result *result, const char *last_words);

/* Does periodic work if due: lease, commits, flushes, progress, a look at the dataset's path. Cheap; call it
 * often. */
void job_breathe(struct job *job, double now);

/* The number of runs that were chosen and have not ended; 0: nothing is left to train. */
int64_t job_pending(const struct job *job);

#endif
