#include "driver/local.h"

#include "worker/clock.h"
#include "worker/environment.h"
#include "worker/save.h"
#include "worker/setup.h"
#include "worker/signals.h"

#include <string.h>

enum { WORKER = 0, HELD_MOST = 16 };

#define STEP_SECONDS 0.1 /* between two reports of progress */

struct local {
    struct job *job;
    struct order held[HELD_MOST]; /* orders to train, held[0] next */
    int used;
    bool finished, stopping;
    struct digest digest; /* of the run that trains */
    struct result result;
    struct arena arena;
    struct error unsaved; /* why its weights could not be saved; text "": they could */
    char host[HOST_SIZE];
    double reported;
};

static void tell(struct local *local, enum event_kind kind, uint64_t ticket)
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
        else if (order.kind != ORDER_STOP && order.kind != ORDER_QUIT && order.kind != ORDER_GIVE_UP)
            job_settle(local->job, &order, &local->result);
    }
}

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct local *local = context;

    job_row(local->job, WORKER, local->held[0].cell, step, values, 0, count);
    job_breathe(local->job, clock_now());
}

static bool on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct local *local = context;
    double now = clock_now();

    if (now - local->reported >= STEP_SECONDS) {
        local->reported = now;
        job_step(local->job, WORKER, local->held[0].cell, local->host, step, last_step, tokens, now);
        job_breathe(local->job, now);
    }
    return !signals_stop() && !local->job->failed;
}

static void on_finish(void *context, const struct transformer *model, const scalar *weights)
{
    struct local *local = context;

    save_weights(local->job->folder, &local->digest, model, weights, &local->unsaved);
}

static void train_next(struct local *local)
{
    struct job *job = local->job;
    const struct order order = local->held[0];
    struct observer observer = {.context = local, .row = on_row, .carry_on = on_step};
    struct run run;

    job_run(job, order.cell, &run);
    sweep_run_digest(job->sweep, job->corpus, &run, &local->digest);
    if (run.save_weights)
        observer.finish = on_finish;
    local->unsaved.text[0] = '\0';
    job_step(job, WORKER, order.cell, local->host, 0, run_last_step(&run, job->corpus), 0, clock_now());
    train(&run, job->corpus, &job->sweep->measure, &observer, &local->arena, &local->result);
    if (local->unsaved.text[0])
        save_failed(&local->result, &local->unsaved);
    local->used--;
    memmove(&local->held[0], &local->held[1], (size_t)local->used * sizeof(local->held[0]));
    tell(local, EVENT_RESULT, order.ticket);
    job_breathe(job, clock_now());
}

/* Nothing trains while this process looks: whatever it holds it hands back itself. */
static void stop(struct local *local)
{
    local->stopping = true;
    tell(local, EVENT_STOP, 0);
    while (local->used > 0) {
        local->result = (struct result){.outcome = OUTCOME_PENDING, .diverged_step = -1};
        tell(local, EVENT_RESULT, local->held[--local->used].ticket);
    }
}

void local_run(struct job *job)
{
    struct local local = {.job = job};

    environment_host(local.host, sizeof(local.host));
    tell(&local, EVENT_HELLO, 0);
    while (!local.finished && !job->failed) {
        if (signals_stop() && !local.stopping)
            stop(&local);
        else if (local.used > 0)
            train_next(&local);
        else
            break;
    }
    arena_release(&local.arena);
}
