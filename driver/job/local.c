/*
 * A sweep in this process, without MPI: worker and coordinator at once. Orders and events are those of ranks,
 * so the same coordinator decides; between two steps of a run there is time for the display, the lease and
 * commits.
 */
#include "driver/job/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"
#include "worker/host/host.h"
#include "worker/wire/wire.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORKER = 0 };

#define STEP_SECONDS 0.1 /* between two reports of progress */

struct local {
    struct job *job;
    struct order held; /* if `holds`: the run to train, or in training */
    bool holds, finished, stopping;
    struct result result; /* of the current or last run */
    struct arena arena;
    struct unigram unigram;
    struct keeper keeper;
    char host[HOST_SIZE];
    double reported;
};

/* An event of the worker; its orders are taken later. */
static void push_event(struct local *local, enum event_kind kind, uint64_t ticket, bool ended)
{
    const struct event event = {
        .kind = kind, .worker = WORKER, .ticket = ticket, .ended = ended, .now = clock_now()};

    coordinator_handle(local->job->coordinator, &event);
}

/* Carries out all orders, also those that follow from handing back. Only stop_local asks for a STOP, so no
 * run trains when one comes. */
static void obey(struct local *local)
{
    struct order order;

    while (coordinator_next(local->job->coordinator, &order)) {
        if (order.kind == ORDER_RUN) {
            INVARIANT(!local->holds, "ticket %" PRIu64 " and %" PRIu64, local->held.ticket, order.ticket);
            local->held = order;
            local->holds = true;
        } else if (order.kind == ORDER_STOP && local->holds) {
            local->holds = false;
            push_event(local, EVENT_RESULT, local->held.ticket, false);
        } else if (order.kind == ORDER_FINISH) {
            local->finished = true;
        } else if (order.kind != ORDER_STOP && order.kind != ORDER_QUIT) {
            job_obey(local->job, &order, &local->result, "");
        }
    }
}

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct local *local = context;

    job_row(local->job, WORKER, local->held.cell, step, values, 0, count);
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
    job_step(local->job, WORKER, local->held.cell, local->host, step, last_step, tokens);
}

static bool has_to_stop(const struct local *local)
{
    return signals_stop() || local->job->moved;
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct local *local = context;
    double now = clock_now();

    if (now - local->reported >= STEP_SECONDS) {
        report_step(local, step, last_step, tokens, now);
        job_breathe(local->job, now);
    }
    if (has_to_stop(local)) { /* tell at once: the run is now saved, and then there is nothing to show */
        JOB_TELL(local->job, .kind = JOB_STOPS);
        job_breathe(local->job, now);
    }
    return keeper_verdict(&local->keeper, step, has_to_stop(local) || local->job->failed, now);
}

static bool on_resume(void *context, struct snapshot *snapshot)
{
    struct local *local = context;
    bool resumed = keeper_resume(&local->keeper, snapshot);

    report_step(local, resumed ? snapshot->step : 0, snapshot->last_step,
        resumed ? snapshot->result->tokens : 0, clock_now());
    return resumed;
}

static int on_begin(
    void *context, int64_t name, const struct weight_layout *layout, scalar *weights, struct error *error)
{
    const struct local *local = context;

    return starts_load(&local->job->sweep->starts, name, layout, weights, NULL, error);
}

static void on_save(void *context, const struct snapshot *snapshot)
{
    struct local *local = context;

    keeper_save(&local->keeper, snapshot);
    if (local->keeper.saved_step != snapshot->step)
        return;
    job_checkpoint(local->job, local->held.cell);
    push_event(
        local, EVENT_CHECKPOINT, local->held.ticket, false); /* orders that end the run tell its deaths */
}

static void on_keep(void *context, const struct snapshot *snapshot)
{
    struct local *local = context;

    keeper_keep(&local->keeper, snapshot);
    job_kept(local->job, local->held.cell);
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

    JOB_TELL(local->job, .kind = JOB_SPEAKS);
    lines_print(stderr, 0, "%s", line);
}

/* Trains the run that is held, from its checkpoint if it has one, and hands its result in. */
static void train_next(struct local *local)
{
    struct job *job = local->job;
    struct keeper *keeper = &local->keeper;
    const struct order order = local->held;
    struct observer observer = {.context = local,
        .row = on_row,
        .carry_on = on_step,
        .combine = on_gradient,
        .begin = on_begin,
        .save = on_save,
        .finish = on_finish,
        .unigram = &local->unigram};
    struct digest digest;
    struct run run;

    sweep_cell(job->sweep, order.cell, &run);
    sweep_run_digest(job->sweep, job->corpus, &run, &digest);
    keeper_begin(keeper, &digest, order.ticket, job_has_files(job, order.cell));
    if (job_trunk(job, order.cell, &digest)) {
        keeper_share(keeper, &digest);
        observer.keep = on_keep;
    }
    if (keeper->resume)
        observer.resume = on_resume; /* it knows the first step */
    else
        report_step(local, 0, run_last_step(&run, job->corpus), 0, clock_now());
    train(&run, job->corpus, &job->sweep->measure, &observer, &local->arena, &local->result);
    if (keeper->failed.text[0])
        job_break_off(job, &keeper->failed);
    local->holds = false;
    push_event(local, EVENT_RESULT, order.ticket, local->result.outcome != OUTCOME_PENDING);
    obey(local);
    job_breathe(job, clock_now());
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
    push_event(&local, EVENT_HELLO, 0, false);
    obey(&local);
    while (!local.finished && !job->failed) {
        if (has_to_stop(&local) && !local.stopping) {
            local.stopping = true;
            JOB_TELL(job, .kind = JOB_STOPS);
            push_event(&local, EVENT_STOP, 0, false);
            obey(&local);
        } else if (local.holds) {
            train_next(&local);
        } else {
            break;
        }
    }
    arena_release(&local.arena);
}
