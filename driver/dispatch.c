#include "driver/dispatch.h"

#include "driver/threads.h"
#include "worker/clock.h"
#include "worker/environment.h"
#include "worker/signals.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_AT_ONCE = 1000 };

#define LOOK_SECONDS 1 /* between two looks whether workers are alive */
#define HELLO_SECONDS 60 /* after which a worker that has never said hello counts as dead */
#define PAUSE_LEAST 100e-6 /* between two looks for messages */
#define PAUSE_MOST 5e-3
#define READY_SECONDS 5 /* after which signals are let through though not all ranks have said hello */

/* Rank r > 0 is worker r - 1. */
struct peer {
    struct hello hello;
    bool said_hello, here, ready, dead, quit; /* here: on this machine; quit: has been told to */
};

struct dispatch {
    struct job *job;
    struct wire *wire;
    int workers;
    struct peer *peer; /* [workers] */
    int hellos, readies, deaths;
    unsigned char *setup;
    size_t setup_size;
    char host[HOST_SIZE];
    struct message in, out;
    const struct result *result; /* of the event that is handled */
    int64_t waits; /* of workers, at the last look */
    bool told_ready, stopping, finished, abandoned;
    double begun, looked, now;
};

static void stop_with(struct dispatch *d, enum error_status status, const char *what, const char *why)
{
    struct error error;

    error_set(&error, status, "%s: %s", what, why);
    job_fail(d->job, &error);
}

/* ---- orders out ---- */

static struct message *blank(struct dispatch *d, enum message_kind kind)
{
    d->out.kind = kind;
    return &d->out;
}

static void send(struct dispatch *d, int worker)
{
    wire_send(d->wire, worker + 1, &d->out);
}

static void send_setup(struct dispatch *d, int worker)
{
    for (size_t offset = 0; offset < d->setup_size; offset += PIECE_BYTES) {
        struct setup_piece *piece = &blank(d, MESSAGE_SETUP)->as.setup;
        size_t left = d->setup_size - offset;
        piece->total = (int64_t)d->setup_size;
        piece->offset = (int64_t)offset;
        piece->count = (int64_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
        memcpy(piece->bytes, d->setup + offset, (size_t)piece->count);
        send(d, worker);
    }
}

static void send_order(struct dispatch *d, const struct order *order)
{
    struct train_order *out = &blank(d, MESSAGE_ORDER)->as.order;

    out->ticket = order->ticket;
    out->cell = order->cell;
    job_run(d->job, order->cell, &out->run);
    sweep_run_digest(d->job->sweep, d->job->corpus, &out->run, &out->digest);
    send(d, order->worker);
}

static void send_quit(struct dispatch *d, int worker)
{
    struct peer *peer = &d->peer[worker];

    if (peer->dead || peer->quit)
        return;
    blank(d, MESSAGE_QUIT)->as.quit.together = d->deaths == 0;
    send(d, worker);
    peer->quit = true;
}

static void obey(struct dispatch *d, const struct order *order)
{
    switch (order->kind) {
    case ORDER_RUN:
        send_order(d, order);
        break;
    case ORDER_STOP:
        blank(d, MESSAGE_STOP)->as.ticket = order->ticket;
        send(d, order->worker);
        break;
    case ORDER_GIVE_UP:
        break;
    case ORDER_QUIT:
        break; /* all ranks are told at the end, those too that the coordinator has never heard of */
    case ORDER_FINISH:
        d->finished = true;
        break;
    default:
        job_settle(d->job, order, d->result);
    }
}

static void tell(struct dispatch *d, struct event event)
{
    struct order order;

    event.now = d->now;
    coordinator_handle(d->job->coordinator, &event);
    while (coordinator_next(d->job->coordinator, &order))
        obey(d, &order);
}

/* ---- messages in ---- */

static void take_hello(struct dispatch *d, int worker, const struct hello *hello)
{
    struct peer *peer = &d->peer[worker];

    d->hellos += !peer->said_hello;
    peer->said_hello = true;
    peer->dead = false; /* it was only slow */
    peer->hello = *hello;
    peer->hello.host[HOST_SIZE - 1] = '\0';
    peer->here = strcmp(peer->hello.host, d->host) == 0;
    send_setup(d, worker);
}

static void take_refusal(struct dispatch *d, int worker, char text[REASON_SIZE])
{
    text[REASON_SIZE - 1] = '\0';
    stop_with(d, ERROR_ENVIRONMENT, d->peer[worker].hello.host, text);
}

static void take_progress(struct dispatch *d, int worker, const struct run_progress *progress)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, progress->ticket);

    if (cell >= 0)
        job_step(d->job, worker, cell, d->peer[worker].hello.host, progress->step, progress->last_step,
            progress->tokens, d->now);
    tell(d, (struct event){.kind = EVENT_PROGRESS, .worker = worker, .ticket = progress->ticket});
}

static void take_row(struct dispatch *d, int worker, const struct row_piece *row)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, row->ticket);

    if (cell >= 0)
        job_row(d->job, worker, cell, row->step, row->values, (size_t)row->offset, (size_t)row->count);
    tell(d, (struct event){.kind = EVENT_PROGRESS, .worker = worker, .ticket = row->ticket});
}

static void take_result(struct dispatch *d, int worker, const struct run_result *result)
{
    bool ended = result->result.outcome != OUTCOME_PENDING;

    d->result = &result->result;
    tell(d, (struct event){.kind = EVENT_RESULT, .worker = worker, .ticket = result->ticket, .ended = ended});
}

static void take_ready(struct dispatch *d, int worker)
{
    d->readies += !d->peer[worker].ready;
    d->peer[worker].ready = true;
    tell(d, (struct event){.kind = EVENT_HELLO, .worker = worker});
}

/* False when nothing has arrived. */
static bool take(struct dispatch *d)
{
    int rank;

    if (!wire_receive(d->wire, &rank, &d->in))
        return false;
    int worker = rank - 1;
    if (worker < 0)
        return true;
    switch ((enum message_kind)d->in.kind) {
    case MESSAGE_HELLO:
        take_hello(d, worker, &d->in.as.hello);
        break;
    case MESSAGE_READY:
        take_ready(d, worker);
        break;
    case MESSAGE_REFUSED:
        take_refusal(d, worker, d->in.as.text);
        break;
    case MESSAGE_PROGRESS:
        take_progress(d, worker, &d->in.as.progress);
        break;
    case MESSAGE_ROW:
        take_row(d, worker, &d->in.as.row);
        break;
    case MESSAGE_RESULT:
        take_result(d, worker, &d->in.as.result);
        break;
    default:
        break; /* nothing that a worker says */
    }
    return true;
}

/* ---- watching ---- */

static void say_lost(const struct dispatch *d, int worker)
{
    progress_clear(d->job->progress);
    fprintf(stderr, "%s: worker %d on %s was lost; what it trained starts anew; %d of %d workers are left\n",
        d->job->sweep->output, worker + 1, d->peer[worker].hello.host, d->workers - d->deaths, d->workers);
}

/* A worker on this machine whose process is gone, or any that never came. Others would have to be silent
 * first. */
static bool is_dead(const struct dispatch *d, const struct peer *peer)
{
    if (!peer->said_hello)
        return d->now - d->begun > HELLO_SECONDS;
    return peer->here && kill((pid_t)peer->hello.pid, 0) != 0 && errno == ESRCH;
}

static void look_for_dead(struct dispatch *d)
{
    for (int i = 0; i < d->workers; i++) {
        struct peer *peer = &d->peer[i];
        if (peer->dead || !is_dead(d, peer))
            continue;
        peer->dead = true;
        d->deaths++;
        say_lost(d, i);
        tell(d, (struct event){.kind = EVENT_LOST, .worker = i, .blame = true});
    }
}

/* With every worker dead or on its way out nothing more can be done. */
static bool is_abandoned(const struct dispatch *d)
{
    struct coordinator_state state;
    int heard_of = 0;

    for (int i = 0; i < d->workers; i++)
        heard_of += d->peer[i].ready || d->peer[i].dead;
    coordinator_state(d->job->coordinator, &state);
    return heard_of == d->workers && state.workers == 0;
}

static void stop(struct dispatch *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    tell(d, (struct event){.kind = EVENT_STOP});
}

static void watch(struct dispatch *d)
{
    if (signals_stop())
        stop(d);
    if (!d->told_ready && (d->hellos == d->workers || d->now - d->begun > READY_SECONDS)) {
        lease_tell(d->job->lease, STAGE_READY, 0);
        d->told_ready = true;
    }
    if (d->now - d->looked < LOOK_SECONDS)
        return;
    d->looked = d->now;
    look_for_dead(d);
    if (is_abandoned(d)) {
        d->abandoned = !d->stopping && d->deaths > 0;
        stop(d);
    }
    tell(d, (struct event){.kind = EVENT_TICK});
}

static int prepare(struct dispatch *d)
{
    const struct job *job = d->job;
    struct threads threads = threads_of(job->sweep);
    struct setup setup = {
        .source = job->sweep->source,
        .corpus = job->corpus->digest,
        .measure = job->sweep->measure,
        .threads = threads.least == threads.most ? threads.least : 0,
        .folder = job->folder,
    };

    environment_host(d->host, sizeof(d->host));
    memcpy(setup.host, d->host, sizeof(setup.host));
    d->peer = calloc((size_t)d->workers + 1, sizeof(*d->peer));
    d->setup = setup_encode(&setup, &d->setup_size);
    return d->peer && d->setup ? 0 : -1;
}

/*
 * How long to sleep between two looks for messages. As workers hold an order ahead, an answer may come late
 * by as much as a run takes: the pause grows by and by, and is halved when a worker has had to wait. Each
 * look costs some 15 us, mostly for falling asleep and waking.
 */
static double next_pause(struct dispatch *d, double pause)
{
    struct coordinator_state state;

    coordinator_state(d->job->coordinator, &state);
    bool waited = state.waits > d->waits;
    d->waits = state.waits;
    return waited ? fmax(pause / 2, PAUSE_LEAST) : fmin(pause * 1.1, PAUSE_MOST);
}

static void work(struct dispatch *d)
{
    double pause = PAUSE_LEAST;

    while (!d->finished && !d->job->failed) {
        int count = 0;
        d->now = clock_now();
        while (count < MESSAGES_AT_ONCE && !d->finished && take(d))
            count++;
        watch(d);
        job_breathe(d->job, d->now);
        pause = next_pause(d, pause);
        if (count < MESSAGES_AT_ONCE && !d->finished)
            clock_pause(pause);
    }
}

struct dispatch_end dispatch_run(struct job *job, struct wire *wire)
{
    struct dispatch *d = calloc(1, sizeof(*d));
    struct dispatch_end end = {.together = true};
    struct error error;

    if (d)
        *d =
            (struct dispatch){.job = job, .wire = wire, .workers = wire_size(wire) - 1, .begun = clock_now()};
    if (!d || prepare(d) != 0) {
        error_set(&error, ERROR_ENVIRONMENT, "%s: no memory", job->sweep->output);
        job_fail(job, &error);
        dispatch_dismiss(wire);
    } else {
        work(d);
        for (int i = 0; i < d->workers; i++)
            send_quit(d, i);
        end = (struct dispatch_end){.together = d->deaths == 0, .abandoned = d->abandoned};
    }
    if (d) {
        free(d->peer);
        free(d->setup);
    }
    free(d);
    return end;
}

void dispatch_dismiss(struct wire *wire)
{
    struct message quit = {.kind = MESSAGE_QUIT, .as.quit.together = true};

    for (int rank = 1; rank < wire_size(wire); rank++)
        wire_send(wire, rank, &quit);
}
