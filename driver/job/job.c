/*
 * A running sweep. Events of workers come in from local.c or from dispatch; results go to the dataset, to the
 * chooser and so to the coordinator, and whatever happens to the observers. The order is that of safety: a
 * result waits for a commit (values, sync, outcome, sync), and only then are its checkpoints removed. The
 * first error ends all writing: what is on the disk then is whole, and the next start carries on from it.
 */
#include "driver/job/inside.h"
#include "worker/host/host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEAT_CELLS = 1 << 16 };

#define SILENCE_SECONDS 60 /* for a worker that has not yet announced how long it may be silent */

/* Results within this time share the two syncs of a commit. If syncs are slow the time grows, so that they
 * take at most COMMIT_PART of it. */
#define COMMIT_SECONDS 0.25
#define COMMIT_PART 0.02
#define FLUSH_SECONDS 1

static double cost_of(const struct job *job, int64_t cell)
{
    struct run run;

    sweep_cell(job->sweep, cell, &run);
    return train_cost(&run, job->corpus, &job->sweep->measure);
}

void job_tell(const struct job *job, const struct job_event *event)
{
    for (int i = 0; i < JOB_OBSERVERS; i++)
        if (job->observer[i].see)
            job->observer[i].see(job->observer[i].context, job, event);
}

int64_t job_session(const struct job *job)
{
    int64_t session = dataset_session(job->dataset);

    return session > job->kept.session ? session : job->kept.session + 1;
}

static struct digest digest_of(const struct job *job, int64_t cell)
{
    struct digest digest;
    struct run run;

    sweep_cell(job->sweep, cell, &run);
    sweep_run_digest(job->sweep, job->corpus, &run, &digest);
    return digest;
}

void job_name(const struct job *job, int64_t cell, char name[DIGEST_TEXT])
{
    const struct digest digest = digest_of(job, cell);

    digest_format(&digest, name);
}

void job_fail(struct job *job, const struct error *error)
{
    if (!job->failed)
        job->error = *error;
    job->failed = true;
}

/* Fails the job with this error, if `failed`. */
static void keep_error(struct job *job, int failed, const struct error *error)
{
    if (failed)
        job_fail(job, error);
}

static void count_ended(struct tally *tally, enum outcome outcome)
{
    tally->done += outcome == OUTCOME_DONE;
    tally->diverged += outcome == OUTCOME_DIVERGED;
    tally->failed += outcome == OUTCOME_FAILED;
}

int64_t job_pending(const struct job *job)
{
    return job->tally.runs - job->tally.done - job->tally.diverged - job->tally.failed;
}

static struct pending_run pending_of(const struct job *job, int64_t cell)
{
    return (struct pending_run){.cell = (int)cell,
        .cost = (float)cost_of(job, cell),
        .turn = sweep_turn(job->sweep, cell),
        .deaths = dataset_deaths(job->dataset)[cell]};
}

/* Takes the next cell that the chooser wants trained and that waits for no other, for the coordinator; false:
 * none, for now. */
static bool next_pending(void *context, struct pending_run *pending)
{
    struct job *job = context;
    struct error error;
    int64_t cell;

    while ((cell = chooser_next(job->chooser)) >= 0 && !job->failed) {
        if (job->runs_chosen % BEAT_CELLS == 0)
            lease_beat(job->lease);
        *pending = pending_of(job, cell);
        job->tally.runs++;
        job->runs_chosen++;
        job->cost_chosen += pending->cost;
        if (!trunks_choose(job->trunks, cell))
            break;
        job->cost_waiting += pending->cost;
    }
    keep_error(job, chooser_check(job->chooser, &error), &error);
    job->tally.to_come = (int64_t)ceil(chooser_left(job->chooser));
    if (cell < 0 && (cell = trunks_next(job->trunks)) >= 0) {
        *pending = pending_of(job, cell);
        job->cost_waiting -= pending->cost;
    }
    return cell >= 0 && !job->failed;
}

static int no_memory(const struct job *job, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", job->sweep->output);
}

/* With time 0 the coordinator keeps the time of its last event, because dispatch.c gives it another clock
 * than clock_now(). */
static void add_run(struct job *job, const struct pending_run *pending)
{
    struct error error;

    if (coordinator_add(job->coordinator, pending, 1, 0) < 0)
        keep_error(job, no_memory(job, &error), &error);
}

/* Hands the run to the coordinator that has waited for this one, if there is one. */
static void begin_waiting(struct job *job, int64_t cell, bool ended)
{
    int64_t next = trunks_pass(job->trunks, cell, ended);

    if (next < 0)
        return;
    const struct pending_run pending = pending_of(job, next);
    job->cost_waiting -= pending.cost;
    add_run(job, &pending);
}

/* ---- files of runs ---- */

void job_checkpoint(struct job *job, int64_t cell)
{
    job->saved[cell] = true;
    lease_tell_kept(job->lease);
    job_pardon(job, cell, 0);
}

bool job_trunk(const struct job *job, int64_t cell, struct digest *digest)
{
    struct run run;

    if (job->sweep->base.save_weights != SAVE_STATE && !trunks_has(job->trunks, cell))
        return false;
    sweep_cell(job->sweep, cell, &run);
    sweep_trunk_digest(job->sweep, job->corpus, &run, digest);
    return true;
}

void job_kept(struct job *job, int64_t cell)
{
    if (!job->failed)
        begin_waiting(job, cell, false);
}

bool job_has_files(const struct job *job, int64_t cell)
{
    if (job->saved[cell] || job->kept.count == 0)
        return job->saved[cell];
    const struct digest digest = digest_of(job, cell);
    return checkpoint_set_has(&job->kept, &digest);
}

/* A run has ended: its files, of this start and earlier ones, are removed after the next commit. */
static void spend(struct job *job, int64_t cell)
{
    if (!job->had_folder && !job->saved[cell] && !job->trunks)
        return;
    if (job->spent_count == job->spent_size) {
        int64_t size = job->spent_size ? 2 * job->spent_size : 16;
        int64_t *more = realloc(job->spent, (size_t)size * sizeof(*more));
        if (!more)
            return; /* its files stay behind and only cost disk space */
        job->spent = more;
        job->spent_size = size;
    }
    job->spent[job->spent_count++] = cell;
}

/* The log of a failed run is kept, and states with save_weights: state or for runs that --only leaves out. */
static void remove_spent(struct job *job)
{
    bool keeps = job->sweep->base.save_weights == SAVE_STATE || job->sweep->only;
    char name[DIGEST_TEXT];
    struct digest trunk;
    struct error error;

    for (int64_t i = 0; i < job->spent_count; i++) {
        int64_t cell = job->spent[i];
        const struct digest digest = digest_of(job, cell);
        if (job_has_files(job, cell))
            keep_error(job, checkpoint_remove(job->folder, &digest, &error), &error);
        if (!keeps && trunks_over(job->trunks, cell) && job_trunk(job, cell, &trunk))
            keep_error(job, checkpoint_remove(job->states, &trunk, &error), &error);
        if (dataset_outcomes(job->dataset)[cell] != OUTCOME_FAILED) {
            digest_format(&digest, name);
            log_forget(job->folder, name);
        }
    }
    job->spent_count = 0;
}

/* ---- opening and closing ---- */

int job_open(struct job *job, const struct sweep *sweep, const struct corpus *corpus, struct lease *lease,
    const struct session *session, const struct dataset_options *options, int workers,
    const struct job_observer *observer, struct error *error)
{
    const struct coordinator_options how = {.silence = SILENCE_SECONDS,
        .deaths = DEATHS_MOST,
        .orders_ahead = workers > 0 ? JOB_ORDERS_AHEAD : 0};
    int trainers = workers > 0 ? workers : 1;
    double now = clock_now();

    *job = (struct job){.sweep = sweep,
        .corpus = corpus,
        .lease = lease,
        .flushed = now,
        .renewed = now,
        .looked = now,
        .told = now,
        .meter = {.read = now}};
    if (observer)
        memcpy(job->observer, observer, sizeof(job->observer));
    if (dataset_open(&job->dataset, sweep->output, sweep, corpus, session, options, error) != 0)
        return -1;
    lease_beat(lease);
    job->folder = folder_of(sweep->output);
    job->saved = calloc((size_t)sweep->cells, sizeof(*job->saved));
    job->states = folder_states(sweep->output);
    job->trunks = trunks_new(sweep, corpus);
    if (!job->folder || !job->saved || !job->states) {
        no_memory(job, error);
    } else if (checkpoint_set_init(&job->kept, job->folder, error) == 0) {
        remove_matching(job->folder, LOG_FILES);
        job->had_folder = access(job->folder, F_OK) == 0 || errno != ENOENT;
        for (int64_t cell = 0; cell < sweep->cells; cell++)
            count_ended(&job->tally, (enum outcome)dataset_outcomes(job->dataset)[cell]);
        job->tally.runs = job->tally.done + job->tally.diverged + job->tally.failed;
        job->chooser = chooser_new(sweep, corpus, job->dataset, NULL);
        job->coordinator =
            coordinator_new((struct pending_runs){next_pending, job}, sweep->cells, trainers, &how);
        if (speed_init(&job->speed, trainers, now) == 0 && job->coordinator) {
            JOB_TELL(job, .kind = JOB_BEGUN, .workers = trainers, .now = now);
            return 0;
        }
        no_memory(job, error);
    }
    job->failed = true;
    job->error = *error;
    return job_close(job, error);
}

double job_memory(int64_t cells)
{
    return (double)cells * (QUEUED_RUN_BYTES + DATASET_CELL_BYTES + sizeof(bool));
}

int job_mark(struct job *job, struct error *error)
{
    return mark_leave(job->folder, job_session(job), job->mark, error);
}

void job_renew_mark(const struct job *job)
{
    if (job->mark[0] && !job->failed) /* else the output may belong to another process */
        mark_renew(job->folder, job->mark);
}

static void commit(struct job *job, double now)
{
    double begin = clock_now();
    struct error error;

    if (!job->failed && job->waiting > 0)
        keep_error(job, dataset_commit(job->dataset, &error), &error);
    if (!job->failed && job->waiting > 0) {
        lease_tell_kept(job->lease);
        remove_spent(job);
    }
    JOB_TELL(job, .kind = JOB_COMMITTED, .results = job->failed ? -1 : job->waiting);
    job->pause = fmin(fmax((clock_now() - begin) / COMMIT_PART, COMMIT_SECONDS), FLUSH_SECONDS);
    job->waiting = 0;
    job->committed = job->flushed = now;
}

void job_break_off(struct job *job, const struct error *error)
{
    commit(job, clock_now());
    job_fail(job, error);
}

/* If the lease is lost, the dataset and its folder belong to another process: drop what is not yet written.
 * But the lease of a moved dataset may be gone with its folder; only an owner in it is another process.
 */
static void renew(struct job *job, double now)
{
    struct error error;

    if (now - job->renewed < LEASE_RENEW_SECONDS)
        return;
    job->renewed = now;
    int status = lease_renew(job->lease, &error);
    if (status == 0) {
        job_renew_mark(job);
        return;
    }
    job->moved = status != LEASE_TAKEN && (job->moved || dataset_is_moved(job->dataset));
    if (job->moved) {
        job->looked = now; /* the workers stop first, as after a look */
        return;
    }
    dataset_forget(job->dataset);
    job->lost = true;
    job_fail(job, &error);
}

int job_close(struct job *job, struct error *error)
{
    const struct breath breath = lease_breath(job->lease);
    struct error closing, line; /* where the results of a moved dataset are; the user needs it most */
    double now = clock_now();

    renew(job, now); /* this process may have been paused */
    commit(job, now);
    if (job->dataset && !job->lost) /* else the output belongs to another process */
        job->moved = job->moved || dataset_is_moved(job->dataset);
    if (job->moved)
        dataset_keep(job->dataset, &breath, &line);
    if (job->mark[0] && job->folder) {
        mark_remove(job->folder, job->mark);
        rmdir(job->folder); /* succeeds only if it is empty */
    }
    bool ended = !job->failed && job->coordinator && job_pending(job) == 0 && !job->sweep->only;
    if (ended && !job->moved)
        keep_error(job,
            folder_clear(job->sweep->output, job->sweep->base.save_weights != SAVE_STATE, &closing),
            &closing);
    keep_error(job, dataset_close(job->dataset, &closing), &closing);
    if (job->moved) {
        job->failed = true;
        job->error = line;
    }
    JOB_TELL(job, .kind = JOB_CLOSED);
    speed_release(&job->speed);
    coordinator_free(job->coordinator);
    chooser_free(job->chooser);
    trunks_free(job->trunks);
    free(job->folder);
    free(job->states);
    free(job->spent);
    free(job->saved);
    checkpoint_set_release(&job->kept);
    if (job->failed)
        *error = job->error;
    return job->failed ? -1 : 0;
}

static bool is_running(const struct job *job, int64_t cell)
{
    return dataset_outcomes(job->dataset)[cell] == OUTCOME_RUNNING;
}

/* The steps of a run so far. */
static void count_steps(
    struct job *job, int worker, int64_t cell, int64_t step, int64_t last_step, int64_t tokens)
{
    int64_t new = speed_step(&job->speed, worker, step, last_step, tokens);

    if (new < 0) /* of an earlier run of the worker */
        return;
    job->meter.tokens += (double)new;
    JOB_TELL(job, .kind = JOB_RUN_STEP, .worker = worker, .cell = cell, .step = step, .last_step = last_step,
        .tokens = new);
}

void job_step(struct job *job, int worker, int64_t cell, const char *host, int64_t step, int64_t last_step,
    int64_t tokens)
{
    struct error error;

    if (job->failed)
        return;
    if (!is_running(job, cell)) {
        speed_begin(&job->speed, worker, cost_of(job, cell));
        JOB_TELL(job, .kind = JOB_RUN_BEGUN, .worker = worker, .cell = cell, .host = host, .step = step,
            .last_step = last_step);
        keep_error(job, dataset_start(job->dataset, cell, host, worker + 1, step, &error), &error);
        job->tally.running++;
    }
    count_steps(job, worker, cell, step, last_step, tokens);
}

void job_row(struct job *job, int worker, int64_t cell, int64_t step, const double *values, size_t offset,
    size_t count)
{
    _Static_assert(METRIC_train_loss == 0, "train_loss is the first of a row");
    struct error error;

    if (job->failed)
        return;
    keep_error(job, dataset_row(job->dataset, cell, step, values, offset, count, &error), &error);
    if (step != STEP_OF_RUN && offset == 0 && count > 0 && isfinite(values[0]))
        JOB_TELL(job, .kind = JOB_RUN_LOSS, .worker = worker, .cell = cell, .step = step, .loss = values[0]);
}

/* Hands a result to the dataset and to the chooser, and what it then wants trained to the coordinator. */
static void put_result(struct job *job, int worker, int64_t cell, const struct result *result)
{
    struct pending_run more;
    struct error error;

    JOB_TELL(job, .kind = JOB_RUN_ENDED, .worker = worker, .cell = cell, .result = result);
    keep_error(job, dataset_result(job->dataset, cell, result, &error), &error);
    spend(job, cell);
    job->waiting++;
    count_ended(&job->tally, (enum outcome)result->outcome);
    begin_waiting(job, cell, true);
    chooser_take(job->chooser, cell, (enum outcome)result->outcome);
    while (next_pending(job, &more))
        add_run(job, &more);
}

void job_obey(struct job *job, const struct order *order, const struct result *result, const char *last_words)
{
    struct result killed = {.outcome = OUTCOME_FAILED, .diverged_step = -1, .norm_growth = NAN};
    char name[DIGEST_TEXT];
    struct error error;

    if (job->failed)
        return;
    if (order->kind != ORDER_ACCEPT && order->deaths != dataset_deaths(job->dataset)[order->cell]) {
        keep_error(job, dataset_put_deaths(job->dataset, order->cell, order->deaths, &error), &error);
        keep_error(job, dataset_flush(job->dataset, &error), &error);
    }
    bool running = is_running(job, order->cell);
    if (running) {
        job->tally.running--;
        if (order->kind == ORDER_ACCEPT) /* counts the tokens since its last message */
            count_steps(
                job, order->worker, order->cell, result->last_step, result->last_step, result->tokens);
        speed_end(&job->speed, order->worker);
        JOB_TELL(job, .kind = JOB_RUN_LEFT, .worker = order->worker, .cell = order->cell);
    }
    if (order->kind == ORDER_ACCEPT) {
        put_result(job, order->worker, order->cell, result);
    } else if (order->kind == ORDER_FAIL) { /* the run has killed its workers */
        job_name(job, order->cell, name);
        snprintf(killed.reason, sizeof(killed.reason),
            "its worker died %d times without a checkpoint in between%s%.40s; see %.90s/%s.log", DEATHS_MOST,
            last_words[0] ? ", " : "", last_words, job->folder, name);
        put_result(job, order->worker, order->cell, &killed);
    } else if (running) {
        job->saved[order->cell] = true; /* its worker may have died before it could report a checkpoint */
        keep_error(job, dataset_return(job->dataset, order->cell, &error), &error);
        JOB_TELL(job, .kind = JOB_RUN_RETURNED, .worker = order->worker, .cell = order->cell);
    }
}

void job_pardon(struct job *job, int64_t cell, int deaths)
{
    struct error error;

    if (!job->failed && dataset_deaths(job->dataset)[cell] != deaths)
        keep_error(job, dataset_put_deaths(job->dataset, cell, deaths, &error), &error);
}

void job_host(struct job *job, const char *host, bool shut)
{
    size_t length = strlen(job->bad_hosts);
    struct error error;

    JOB_TELL(job, .kind = shut ? JOB_HOST_SHUT : JOB_HOST_OPENED, .host = host);
    if (!shut || job->failed)
        return;
    snprintf(job->bad_hosts + length, sizeof(job->bad_hosts) - length, "%s%s", length > 0 ? " " : "", host);
    keep_error(job, dataset_put_bad_hosts(job->dataset, job->bad_hosts, &error), &error);
}

void job_breathe(struct job *job, double now)
{
    const struct breath breath = lease_breath(job->lease);
    struct coordinator_state state;
    struct error error;

    if (!job->failed)
        renew(job, now); /* first: after a pause the file at the path may be that of another process */
    if (job->failed)
        return;
    /* Does the dataset's path still lead to the open file? If it does not, the caller first stops the
     * workers; the next look copies the file if that is necessary, which may take a while. If that fails it
     * is tried again, and job_close tells of it. */
    if (now - job->looked >= FLUSH_SECONDS) {
        job->looked = now;
        if (job->moved)
            dataset_keep(job->dataset, &breath, &error);
        else
            job->moved = dataset_is_moved(job->dataset);
    }
    if (job->waiting > 0 && now - job->committed >= job->pause)
        commit(job, now);
    coordinator_state(job->coordinator, &state);
    double mean = job->runs_chosen > 0 ? job->cost_chosen / (double)job->runs_chosen : 0;
    job->tally.cost_left = state.cost_left + job->cost_waiting + (double)job->tally.to_come * mean;
    double left = speed_left(&job->speed, job->tally.cost_left, now);
    JOB_TELL(job, .kind = JOB_TICK, .left = left, .now = now);
    if (now - job->told >= FLUSH_SECONDS) { /* for the dataset's readers */
        meter_read(&job->meter, now);
        const struct pace pace = {
            left, meter_rate(&job->meter), state.workers, (double)(job->tally.runs + job->tally.to_come)};
        keep_error(job, dataset_put_pace(job->dataset, &pace, &error), &error);
        job->told = now;
    }
    if (now - job->flushed >= FLUSH_SECONDS) {
        keep_error(job, dataset_flush(job->dataset, &error), &error);
        job->flushed = now;
    }
}
