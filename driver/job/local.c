#include "driver/job/local.h"

#include "driver/sweep/texts.h"
#include "worker/checkpoint/keeper.h"
#include "worker/host/clock.h"
#include "worker/host/environment.h"
#include "worker/host/signals.h"
#include "worker/wire/setup.h"

#include <stdio.h>
#include <string.h>

enum { WORKER = 0, HELD_MOST = 16 };

#define STEP_SECONDS 0.1 /* between two reports of progress */

struct local {
    struct job *job;
    struct order held[HELD_MOST]; /* orders to train, held[0] first */
    int used;
    bool finished, stopping;
    struct result result; /* of the current or last run */
    struct arena arena;
    struct keeper keeper;
    char host[HOST_SIZE];
    double reported;
};

static void tell_coordinator(struct local *local, enum event_kind kind, uint64_t ticket)
{
    struct event event = {.kind = kind,
        .worker = WORKER,
        .ticket = ticket,
        .ended = local->result.outcome != OUTCOME_PENDING,
        .now = clock_now()};
    struct order order;

    coordinator_handle(local->job->coordinator, &event);
    while (coordinator_next(local->job->coordinator, &order)) {
        if (order.kind == ORDER_RUN)
            local->held[local->used++] = order;
        else if (order.kind == ORDER_FINISH)
            local->finished = true;
        else if (order.kind != ORDER_STOP && order.kind != ORDER_QUIT)
            job_settle(local->job, &order, &local->result, "");
    }
}

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct local *local = context;

    job_row(local->job, WORKER, local->held[0].cell, step, values, 0, count);
    job_breathe(local->job, clock_now());
}

/* A gang of one has nothing to sum; a step may be long, and the display and the lease are kept up in it. */
static void on_gradient(void *context, double *loss, scalar *gradient, int64_t size)
{
    struct local *local = context;

    (void)loss, (void)gradient, (void)size;
    job_breathe(local->job, clock_now());
}

static void report_step(struct local *local, int64_t step, int64_t last_step, int64_t tokens, double now)
{
    local->reported = now;
    job_step(local->job, WORKER, local->held[0].cell, local->host, step, last_step, tokens, now);
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct local *local = context;
    double now = clock_now();

    if (now - local->reported >= STEP_SECONDS) {
        report_step(local, step, last_step, tokens, now);
        job_breathe(local->job, now);
    }
    return keeper_verdict(&local->keeper, step, signals_stop() || local->job->failed, now);
}

static bool on_resume(void *context, struct snapshot *snapshot)
{
    struct local *local = context;
    bool resumed = keeper_resume(&local->keeper, snapshot);

    report_step(local, resumed ? snapshot->step : 0, snapshot->last_step,
        resumed ? snapshot->result->tokens : 0, clock_now());
    return resumed;
}

static void on_save(void *context, const struct snapshot *snapshot)
{
    struct local *local = context;

    keeper_save(&local->keeper, snapshot);
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct local *local = context;

    keeper_finish(&local->keeper, snapshot);
}

/* Prints a message of the keeper. */
static void print_line(void *context, const char *line)
{
    const struct local *local = context;

    progress_clear(local->job->progress);
    fprintf(stderr, "%s\n", line);
}

static void local_begin_run(struct local *local, const struct order *order, const struct run *run)
{
    struct job *job = local->job;
    struct digest digest;

    sweep_run_digest(job->sweep, job->corpus, run, &digest);
    keeper_begin(&local->keeper, &digest, order->ticket, job_has_files(job, order->cell));
    if (!local->keeper.resume) /* otherwise on_resume knows the first step */
        report_step(local, 0, run_last_step(run, job->corpus), 0, clock_now());
}

static void local_end_run(struct local *local)
{
    struct job *job = local->job;

    if (local->keeper.failed.text[0])
        job_break_off(job, &local->keeper.failed);
    if (local->keeper.saved_step >= 0)
        job_checkpoint(job, local->held[0].cell);
}

static void train_next(struct local *local)
{
    struct job *job = local->job;
    const struct order order = local->held[0];
    struct observer observer = {.context = local,
        .row = on_row,
        .carry_on = on_step,
        .combine = on_gradient,
        .save = on_save,
        .finish = on_finish};
    struct run run;

    job_run(job, order.cell, &run);
    local_begin_run(local, &order, &run);
    if (local->keeper.resume)
        observer.resume = on_resume;
    train(&run, job->corpus, &job->sweep->measure, &observer, &local->arena, &local->result);
    local_end_run(local);
    local->used--;
    memmove(&local->held[0], &local->held[1], (size_t)local->used * sizeof(local->held[0]));
    tell_coordinator(local, EVENT_RESULT, order.ticket);
    job_breathe(job, clock_now());
}

/* No run is training when this is called, so all held orders are returned unfinished. */
static void stop_local(struct local *local)
{
    local->stopping = true;
    tell_coordinator(local, EVENT_STOP, 0);
    while (local->used > 0) {
        local->result = (struct result){.outcome = OUTCOME_PENDING, .diverged_step = -1};
        tell_coordinator(local, EVENT_RESULT, local->held[--local->used].ticket);
    }
}

void local_run(struct job *job)
{
    struct local local = {.job = job,
        .keeper = {.folder = job->folder,
            .session = job_session(job),
            .interval = 60 * job->sweep->checkpoint_minutes,
            .say = print_line}};

    local.keeper.context = &local;
    environment_host(local.host, sizeof(local.host));
    tell_coordinator(&local, EVENT_HELLO, 0);
    while (!local.finished && !job->failed) {
        if (signals_stop() && !local.stopping)
            stop_local(&local);
        else if (local.used > 0)
            train_next(&local);
        else
            break;
    }
    arena_release(&local.arena);
}
