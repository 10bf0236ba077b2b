#ifndef NORMSWEEP_DRIVER_JOB_JOB_H
#define NORMSWEEP_DRIVER_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/output/output.h"
#include "driver/schedule/schedule.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/train/train.h"

/*
 * Chooses which pending cells of a dataset are trained: all of them, or those that the search of a sweep with
 * `refine` needs. What the search leaves out is skipped in the dataset.
 */
struct chooser;

/* For an open dataset of this sweep; or, with dataset NULL, for the plan of a start, of which chooser_next
 * gives the cells that it would train at first. All are borrowed. */
struct chooser *chooser_new(const struct sweep *sweep, const struct corpus *corpus, struct dataset *dataset,
    const struct start_plan *plan);
void chooser_free(struct chooser *chooser); /* takes NULL */

/* Takes the next cell that is to be trained, pending in the dataset; -1: none, for now. An error of the
 * dataset is kept: see chooser_check. */
int64_t chooser_next(struct chooser *chooser);

/* 0; or -1 with the first error that the dataset had. */
int chooser_check(const struct chooser *chooser, struct error *error);

/* Deals the runs of a sweep that has taken a part out to its parts: sets part_of and part_text. */
void job_divide(struct sweep *sweep, const struct corpus *corpus);

/* Counts of runs of the whole sweep. */
struct tally {
    int64_t runs; /* that are trained, as far as is known */
    int64_t to_come; /* that a search will probably choose besides */
    int64_t done, diverged, failed, running;
    double cost_left; /* of runs that have not ended, and those to come, in the unit of train_cost */
};

/*
 * Draws `wanted` of `count` cells, which ascend: keeps them at the start of `cell` [count]. Each cell
 * has a random number, which follows from the seed, and those with the smallest are drawn; so equal seeds
 * draw equal cells, more wanted cells include the fewer, and a cell more in the list replaces one at most.
 * Returns their number, `wanted` or `count`.
 */
int64_t sample_cells(int64_t *cell, int64_t count, int64_t wanted, uint64_t seed);

/* What happens in a job. Workers are numbered from 0. */
enum job_event_kind {
    JOB_BEGUN, /* with `workers` */
    JOB_RUN_BEGUN, /* from `step` on, on `host` */
    JOB_RUN_STEP, /* at `step`, after training on `tokens` more */
    JOB_RUN_LOSS, /* `loss` at `step` */
    JOB_RUN_LEFT, /* its worker trains the run no more; a result or JOB_RUN_RETURNED follows */
    JOB_RUN_ENDED, /* with `result`, which is not committed yet */
    JOB_RUN_RETURNED, /* a run that was under way is pending again */
    JOB_WORKER_LOST, /* given up for the reason `why`, while it trained `cell`; -1: none */
    JOB_WORKER_REPLACED,
    JOB_HOST_SHUT, /* `host` gets no more runs */
    JOB_HOST_OPENED, /* it gets runs again */
    JOB_COMMITTED, /* `results` are durable; -1: they are dropped */
    JOB_STOPS, /* runs are saved now; may come several times */
    JOB_SPEAKS, /* a line is about to be printed on stderr */
    JOB_TICK, /* time `now`; `left` is as of speed_left */
    JOB_CLOSED, /* also of a job that has not begun */
};

struct job;

struct job_event {
    enum job_event_kind kind;
    int worker, workers, rank; /* rank: of the worker's process */
    int64_t cell, step, last_step, tokens, results;
    double loss, left, now;
    const char *host, *why;
    const struct result *result;
};

/* Shows or records what happens in a job; it changes nothing. */
struct job_observer {
    void *context;
    void (*see)(void *context, const struct job *job, const struct job_event *event);
};

enum { JOB_OBSERVERS = 2 }; /* at most */

/* Tokens per second over the last ten seconds or so, in which older ones count less. Each reader has its own
 * meter, as reading resets it. */
struct meter {
    double tokens; /* since the last reading */
    double counted, seconds; /* tokens before, and the time that they took; both fade */
    double read; /* time of the last reading; -INFINITY: never */
};

void meter_read(struct meter *meter, double now);
double meter_rate(const struct meter *meter); /* NaN: not yet known */

/* The pace of a sweep: how much of its cost the steps so far are worth, and how long the rest takes. */
struct speed {
    struct worker_speed *worker; /* [workers], owned */
    double credit; /* cost of the steps of runs under way */
    double given; /* credit of resumed runs for steps taken before this start */
    double begun; /* time */
    double cost_first; /* cost left when the sweep began; NaN: not yet known */
};

struct worker_speed {
    bool busy, begun; /* begun: its first step was reported */
    double cost, credit;
    int64_t tokens;
};

/* -1: no memory; speed_release is still allowed. */
int speed_init(struct speed *speed, int workers, double now);
void speed_release(struct speed *speed);

/* A worker begins a run of this cost. The first step that it reports is where the run resumes; the work
 * before it does not count. */
void speed_begin(struct speed *speed, int worker, double cost);

/* Returns the tokens since the last report; -1: the report is not of the worker's run. */
int64_t speed_step(struct speed *speed, int worker, int64_t step, int64_t last_step, int64_t tokens);
void speed_end(struct speed *speed, int worker);

/* Seconds to the end at the average pace so far; NaN: not yet known. The first call sets cost_first. */
double speed_left(struct speed *speed, double cost_left, double now);

/*
 * A running sweep: keeps its dataset and its coordinator consistent, and tells its observers. Used for
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
    struct trunks *trunks; /* NULL: no runs share steps */
    struct job_observer observer[JOB_OBSERVERS]; /* see NULL: none */
    struct speed speed;
    struct meter meter; /* of all workers, for the dataset's readers */
    struct tally tally;
    double cost_chosen; /* of all runs that were chosen and had not ended at the start */
    int64_t runs_chosen; /* their number */
    double cost_waiting; /* of those that wait for the state of another */
    char *folder, *states; /* OUT.nc.d, and of states in it */
    char mark[MARK_SIZE]; /* file in the folder, while other processes may write there; "": none */
    bool had_folder; /* the folder existed before this start */
    bool failed;
    struct error error; /* set if failed */
    char bad_hosts[STRING_LONG]; /* all that ever were shut */
    bool lost; /* the lease, and so the dataset, belongs to another process */
    bool moved; /* the dataset's path leads elsewhere: the caller stops the sweep as after a signal */
    int64_t waiting; /* results that are not committed yet */
    struct checkpoint_set kept; /* checkpoints of earlier starts */
    bool *saved; /* [cells] the run may have checkpoints of this start */
    int64_t *spent; /* [spent_count] ended cells whose files the next commit removes */
    int64_t spent_count, spent_size;
    double committed, flushed, renewed, looked, told; /* when each was last done */
    double pause; /* seconds between two commits */
};

/* `workers`: on other ranks; 0: this process is the worker, and takes an order when it has ended the one
 * before. `observer` [JOB_OBSERVERS], told in this order; NULL: none. Pointers are borrowed until job_close.
 * -1 with a message in error; the job is closed. */
int job_open(struct job *job, const struct sweep *sweep, const struct corpus *corpus, struct lease *lease,
    const struct session *session, const struct dataset_options *options, int workers,
    const struct job_observer *observer, struct error *error);

/* Tells the observers. */
void job_tell(const struct job *job, const struct job_event *event);
#define JOB_TELL(job, ...) job_tell(job, &(const struct job_event){__VA_ARGS__})

/* Bytes that the coordinator of a sweep with so many cells needs besides what every rank does. */
double job_memory(int64_t cells);

/* Writes the mark into the folder, before workers in other processes may use it. -1 with a message in
 * error. */
int job_mark(struct job *job, struct error *error);

/* Writes the mark again if a cleaner of old files has removed it, before a later worker looks for it; not
 * once the job has failed. So does job_breathe, with each renewal of the lease. */
void job_renew_mark(const struct job *job);

/* Commits waiting results and closes the job, once. Returns 0, or -1 with the job's first error, or if the
 * dataset has moved, with the line that says where its results are. */
int job_close(struct job *job, struct error *error);

/* Marks the job as failed; the first error is kept. */
void job_fail(struct job *job, const struct error *error);

/* The same for an error that does not concern the dataset: commits waiting results first. */
void job_break_off(struct job *job, const struct error *error);

/* The session number in names of this start's files: its row in the session table, or a larger number if
 * the folder has checkpoints of a dataset that was removed, which would otherwise pass for newer ones. */
int64_t job_session(const struct job *job);

/* The name of a run's files: its digest. */
void job_name(const struct job *job, int64_t cell, char name[DIGEST_TEXT]);

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

/* The digest under which the run finds and leaves states for others; false: it does neither. */
bool job_trunk(const struct job *job, int64_t cell, struct digest *digest);

/* A worker reports that its run has left such a state. Others may wait for it; they are handed out with the
 * coordinator's next orders. */
void job_kept(struct job *job, int64_t cell);

/*
 * Carries out an order about a cell: ORDER_ACCEPT writes `result`; ORDER_FAIL writes a failure, with
 * `last_words`, the last line of the worker's log, or ""; ORDER_RETURN makes a run that was
 * under way pending again.
 */
void job_obey(
    struct job *job, const struct order *order, const struct result *result, const char *last_words);

/* So many deaths count against a run from now on. */
void job_pardon(struct job *job, int64_t cell, int deaths);

/* A host gets no more runs, or gets runs again: tells the observers, and records which ones were shut. */
void job_host(struct job *job, const char *host, bool shut);

/* Does periodic work if due: lease, commits, flushes, a tick of the observers, a look at the dataset's path.
 * Cheap; call it often. */
void job_breathe(struct job *job, double now);

/* The number of runs that were chosen and have not ended; 0: nothing is left to train. */
int64_t job_pending(const struct job *job);

/* Runs that would carry on, and the least, the largest and the sum of the steps from which. */
struct forecast_steps {
    int64_t runs, least, most, sum;
};

/* What a start would do with the runs of a sweep. The first six are the runs that it would train, each
 * counted once. */
struct forecast {
    struct forecast_steps resumed; /* from checkpoints of earlier starts */
    struct forecast_steps carried; /* from states of other runs */
    struct forecast_steps shared; /* from states that other runs will leave */
    int64_t retried; /* failed runs, from their first step */
    int64_t again; /* runs that were under way and have no checkpoint that can be used, likewise */
    int64_t begun; /* runs that have never been started */
    int64_t kept[OUTCOME_COUNT]; /* runs that have ended, by outcome; of skipped cells all */
    int64_t waiting; /* pending runs that --only leaves for later */
    double later; /* runs that a search would choose after these, roughly */
};

/* The number of runs that a start would train at first. */
int64_t forecast_pending(const struct forecast *forecast);

/* For the plan of a start at the sweep's output. Writes nothing. -1 with the error set. */
int forecast_make(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, struct error *error);

/* Runs a job with one worker in this process, without MPI, until every run has ended or a signal arrives. */
void local_run(struct job *job);

#endif
