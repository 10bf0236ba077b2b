#include "driver/ranks/dispatch.h"

#include "driver/job/events.h"
#include "driver/ranks/dispatch_inside.h"
#include "driver/ranks/plausible.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/texts.h"
#include "driver/text/exit_status.h"
#include "driver/text/lines.h"
#include "worker/host/clock.h"
#include "worker/host/environment.h"
#include "worker/host/signals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_AT_ONCE = 1000 };

#define LOOK_SECONDS 1 /* between two checks whether workers are alive */
#define ALIVE_SECONDS 5 /* between two ALIVE messages to every rank: see worker/wire/loop.c */
#define MUTE_SECONDS 30 /* without ALIVE messages, after which workers may be ending themselves */
#define WAKE_SECONDS 110 /* to wait for silent workers with live processes if there are no others */
#define PAUSE_LEAST 100e-6 /* between two checks for messages */
#define PAUSE_MOST 5e-3
#define SIGNALS_SECONDS 5 /* after which signals are passed on even if some ranks have not said hello */

/*
 * For all workers to be ready before the first run is handed out: time enough for one on a host without the
 * output's folder to say so (see worker/wire/loop_setup.c), before anything is trained in vain. Workers of
 * one host read a long text together; those of other hosts do not wait longer for it.
 */
#define BEGIN_SECONDS 30

#define GAP_MOST 1 /* seconds between two checks that count as listening, at most */

void dispatch_say(const struct dispatch *d, const char *format, ...)
{
    char text[REASON_SIZE + 128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    progress_clear(d->job->progress);
    lines_print(stderr, 0, "%s: %s", d->job->sweep->output, text);
}

struct peer *dispatch_peer(const struct dispatch *d, int worker)
{
    return peers_worker(d->peers, worker);
}

/* ---- orders out ---- */

static struct message *blank(struct dispatch *d, enum message_kind kind)
{
    d->out.kind = kind;
    return &d->out;
}

static void send(struct dispatch *d, int worker)
{
    wire_send(d->wire, dispatch_peer(d, worker)->address, &d->out);
}

void dispatch_set_up(struct dispatch *d, const struct peer *peer)
{
    job_renew_mark(d->job);
    for (size_t offset = 0; offset < d->setup_size; offset += PIECE_BYTES) {
        struct setup_piece *piece = &blank(d, MESSAGE_SETUP)->as.setup;
        size_t left = d->setup_size - offset;
        piece->seat = peer->seat;
        piece->rank = peer->address;
        piece->worker = peer->worker + 1;
        piece->total = (int64_t)d->setup_size;
        piece->offset = (int64_t)offset;
        piece->count = (int64_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
        memcpy(piece->bytes, d->setup + offset, (size_t)piece->count);
        wire_send(d->wire, peer->address, &d->out);
    }
}

static void send_order(struct dispatch *d, const struct order *order)
{
    struct train_order *out = &blank(d, MESSAGE_ORDER)->as.order;

    out->ticket = order->ticket;
    out->cell = order->cell;
    sweep_cell(d->job->sweep, order->cell, &out->run);
    sweep_run_digest(d->job->sweep, d->job->corpus, &out->run, &out->digest);
    if (out->run.save_weights == SAVE_STATE)
        sweep_trunk_digest(d->job->sweep, d->job->corpus, &out->run, &out->trunk);
    else
        out->trunk = (struct digest){0};
    out->resume = job_has_files(d->job, order->cell);
    send(d, order->worker);
}

/* Are all ranks alive, so that they can end together? Nothing waits for one that has not said hello. */
static bool is_whole(const struct dispatch *d)
{
    struct coordinator_state state;

    coordinator_state(d->job->coordinator, &state);
    return d->lost == 0 && state.silent == 0 && peers_are_there(d->peers);
}

/* After a signal MPICH's mpiexec ends with the status of any rank, so all have the coordinator's. The
 * launcher has it from the lease; mpirun would comment on it. */
static void send_quit(struct dispatch *d, struct peer *peer)
{
    bool failed = d->job->failed || d->job->displaced;
    bool stopped = d->stopping && job_pending(d->job) > 0 && !failed && !getenv(LEASE_VARIABLE);

    if (peer->dead || peer->quit)
        return;
    blank(d, MESSAGE_QUIT)->as.quit = (struct quit){.together = is_whole(d),
        .save = d->job->failed && !peer->silent,
        .status = stopped ? STATUS_STOPPED : STATUS_DONE};
    wire_send(d->wire, peer->address, &d->out);
    peer->quit = true;
}

/* A run is stopped without saving if the sweep goes on, because then another worker has it. */
static void send_stop(struct dispatch *d, const struct order *order)
{
    blank(d, MESSAGE_STOP)->as.stop = (struct stop){.ticket = order->ticket, .save = d->stopping};
    send(d, order->worker);
}

static void obey(struct dispatch *d, const struct order *order)
{
    switch (order->kind) {
    case ORDER_RUN:
        send_order(d, order);
        break;
    case ORDER_STOP:
        send_stop(d, order);
        break;
    case ORDER_QUIT:
        break; /* all ranks are told at the end, also those that never said hello */
    case ORDER_GIVE_UP:
        dispatch_note_silence(d, order);
        break;
    case ORDER_FINISH:
        d->finished = true;
        break;
    case ORDER_ACCEPT:
    case ORDER_RETURN:
    case ORDER_FAIL:
        job_settle(d->job, order, d->result, d->last_words);
        break;
    }
}

void dispatch_tell(struct dispatch *d, struct event event)
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
    struct peer *peer = dispatch_peer(d, worker);

    if (peer->said_hello || !plausible_hello(hello)) {
        dispatch_distrust(
            d, worker, peer->said_hello ? "a second hello" : "a hello that no process can send");
        return;
    }
    peers_hello(d->peers, peer, hello, d->now);
    dispatch_set_up(d, peer);
}

/* An error that ends the sweep: a full disk, other texts. But a worker that was given up may wake to find
 * its files removed, because another worker has the run; that is not an error. */
static void take_failure(struct dispatch *d, int worker, struct failure *failure)
{
    const struct peer *peer = dispatch_peer(d, worker);
    struct error error;

    if (peer->ready && coordinator_cell(d->job->coordinator, worker, peer->ticket) < 0)
        return;
    failure->text[REASON_SIZE - 1] = '\0';
    error_set(&error, failure->status == ERROR_INPUT ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", peer->host,
        failure->text);
    job_break_off(d->job, &error);
}

/* A worker has reported something about the run of `ticket`. */
static void take_word(struct dispatch *d, enum event_kind kind, int worker, uint64_t ticket)
{
    struct peer *peer = dispatch_peer(d, worker);

    peer->ticket = ticket;
    dispatch_tell(
        d, (struct event){.kind = kind, .worker = worker, .ticket = ticket, .patience = peer->patience});
}

static void take_progress(struct dispatch *d, int worker, const struct run_progress *progress)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, progress->ticket);
    struct peer *peer = dispatch_peer(d, worker);

    if (!plausible_progress(d->job, cell, progress)) {
        dispatch_distrust(d, worker, "progress that its run cannot make");
        return;
    }
    if (cell >= 0 && progress->step >= 0)
        job_step(d->job, worker, cell, peer->host, progress->step, progress->last_step, progress->tokens);
    peer->patience = progress->patience;
    take_word(d, EVENT_PROGRESS, worker, progress->ticket);
}

static void take_checkpoint(struct dispatch *d, int worker, const struct run_checkpoint *checkpoint)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, checkpoint->ticket);

    if (cell >= 0)
        job_checkpoint(d->job, cell);
    take_word(d, EVENT_CHECKPOINT, worker, checkpoint->ticket);
}

static void take_row(struct dispatch *d, int worker, const struct row_piece *row)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, row->ticket);

    if (!plausible_row(d->job, cell, row)) {
        dispatch_distrust(d, worker, "a row that its run does not have");
        return;
    }
    if (cell >= 0)
        job_row(d->job, worker, cell, row->step, row->values, (size_t)row->offset, (size_t)row->count);
    take_word(d, EVENT_PROGRESS, worker, row->ticket);
}

static void take_result(struct dispatch *d, int worker, const struct run_result *result)
{
    int64_t cell = coordinator_cell(d->job->coordinator, worker, result->ticket);
    bool ended = result->result.outcome != OUTCOME_PENDING;

    if (!plausible_result(d->job, cell, &result->result)) {
        dispatch_distrust(d, worker, "a result that its run cannot have");
        return;
    }
    d->result = &result->result;
    dispatch_tell(
        d, (struct event){.kind = EVENT_RESULT, .worker = worker, .ticket = result->ticket, .ended = ended});
}

static void take_ready(struct dispatch *d, int worker)
{
    struct peer *peer = dispatch_peer(d, worker);

    if (!peer->said_hello) {
        dispatch_distrust(d, worker, "no hello before it was ready");
        return;
    }
    peer->ready = true;
    if (peer->was_spare) {
        dispatch_say(d, "worker %d on %s has been replaced", worker + 1, peer->host);
        events_worker_replaced(d->job, worker, peer->host, peer->address);
    }
    if (d->begun)
        dispatch_tell(d, (struct event){.kind = EVENT_HELLO, .worker = worker, .node = peer->node});
}

/* Takes the message in d->in. */
static void take_message(struct dispatch *d, int worker)
{
    switch ((enum message_kind)d->in.kind) {
    case MESSAGE_HELLO:
        take_hello(d, worker, &d->in.as.hello);
        break;
    case MESSAGE_READY:
        take_ready(d, worker);
        break;
    case MESSAGE_FAILED:
        take_failure(d, worker, &d->in.as.failure);
        break;
    case MESSAGE_NOTE:
        d->in.as.text[REASON_SIZE - 1] = '\0';
        dispatch_say(d, "%s", d->in.as.text);
        break;
    case MESSAGE_PROGRESS:
        take_progress(d, worker, &d->in.as.progress);
        break;
    case MESSAGE_CHECKPOINT:
        take_checkpoint(d, worker, &d->in.as.checkpoint);
        break;
    case MESSAGE_ROW:
        take_row(d, worker, &d->in.as.row);
        break;
    case MESSAGE_RESULT:
        take_result(d, worker, &d->in.as.result);
        break;
    case MESSAGE_DAMAGED:
    case MESSAGE_SETUP:
    case MESSAGE_ORDER:
    case MESSAGE_STOP:
    case MESSAGE_QUIT:
    case MESSAGE_ALIVE:
        dispatch_distrust(d, worker, "a message that no worker sends");
        break;
    }
}

/* False if nothing has arrived. Ignores what a worker sent before it died; a spare only says that it is
 * alive. */
static bool listen(struct dispatch *d)
{
    int address;

    if (!wire_receive(d->wire, &address, &d->in))
        return false;
    struct peer *peer = peers_at(d->peers, address);
    if (!peer || peer->dead)
        return true;
    peers_hear(peer, d->now);
    if (peer->worker >= 0)
        take_message(d, peer->worker);
    else if (d->in.kind == MESSAGE_HELLO && plausible_hello(&d->in.as.hello))
        peers_hello(d->peers, peer, &d->in.as.hello, d->now); /* it is late: a spare from now on */
    return true;
}

/* ---- watching ---- */

bool dispatch_may_come_back(const struct dispatch *d, const struct peer *peer)
{
    return peer->silent && peer->here && d->now - peer->asked < WAKE_SECONDS &&
           process_lives(&peer->process) && !process_is_stopped(&peer->process);
}

/* Is every worker dead, silent, or about to quit? */
static bool is_abandoned(const struct dispatch *d)
{
    struct coordinator_state state;

    for (int i = 0; i < d->peers->workers; i++) {
        const struct peer *peer = dispatch_peer(d, i);
        if (!peer->dead && (!peer->ready || dispatch_may_come_back(d, peer)))
            return false;
    }
    coordinator_state(d->job->coordinator, &state);
    return d->begun && state.workers == 0;
}

/* Is a worker dead or silent now? One that a spare has replaced does not count. */
static bool lacks_a_worker(const struct dispatch *d)
{
    for (int i = 0; i < d->peers->workers; i++)
        if (dispatch_peer(d, i)->dead || dispatch_peer(d, i)->silent)
            return true;
    return false;
}

static void send_alive(struct dispatch *d)
{
    blank(d, MESSAGE_ALIVE);
    for (int i = 0; i < d->peers->ranks; i++)
        if (d->peers->peer[i].said_hello && !d->peers->peer[i].dead)
            wire_send(d->wire, d->peers->peer[i].address, &d->out);
}

/* Sends ALIVE to every rank. If this process was paused or waited for a disk, workers may have ended
 * themselves for lack of this message, which is not the fault of their runs. */
static void speak(struct dispatch *d)
{
    double silence = d->clock - d->told_alive;

    if (silence < ALIVE_SECONDS)
        return;
    if (silence > MUTE_SECONDS)
        d->forgiving = d->now + MUTE_SECONDS;
    d->told_alive = d->clock;
    send_alive(d);
}

static void stop_all(struct dispatch *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    progress_stop(d->job->progress);
    dispatch_tell(d, (struct event){.kind = EVENT_STOP});
}

/* Workers whose hello is late are not awaited. */
static bool all_are_ready(const struct dispatch *d)
{
    for (int i = 0; i < d->peers->workers; i++) {
        const struct peer *peer = dispatch_peer(d, i);
        if (peer->said_hello && !peer->ready && !peer->dead)
            return false;
    }
    return true;
}

/* From now on every worker that is ready gets runs. */
static void begin_runs(struct dispatch *d)
{
    d->begun = true;
    for (int i = 0; i < d->peers->workers; i++) {
        const struct peer *peer = dispatch_peer(d, i);
        if (peer->ready && !peer->dead)
            dispatch_tell(d, (struct event){.kind = EVENT_HELLO, .worker = i, .node = peer->node});
    }
}

static void watch_workers(struct dispatch *d)
{
    if (signals_stop() || d->job->displaced)
        stop_all(d);
    if (!d->told_ready && (d->now > SIGNALS_SECONDS || peers_are_there(d->peers))) {
        lease_tell(d->job->lease, STAGE_READY, 0);
        d->told_ready = true;
    }
    if (!d->begun && (d->now > BEGIN_SECONDS || all_are_ready(d)))
        begin_runs(d);
    if (d->now - d->looked < LOOK_SECONDS)
        return;
    d->looked = d->now;
    if (!lease_owner_lives(d->job->lease))
        stop_all(d); /* a script around mpirun may have kept mpirun from ending with its launcher */
    speak(d);
    dispatch_bury(d);
    dispatch_replace(d);
    if (is_abandoned(d)) {
        d->abandoned = !d->stopping && lacks_a_worker(d);
        stop_all(d);
    }
    dispatch_tell(d, (struct event){.kind = EVENT_TICK});
}

static int prepare_dispatch(struct dispatch *d)
{
    const struct job *job = d->job;
    struct threads threads = threads_of(job->sweep);
    struct setup setup = {
        .source = job->sweep->source,
        .corpus = job->corpus->digest,
        .measure = job->sweep->measure,
        .threads = threads.least == threads.most ? threads.least : 0,
        .folder = job->folder,
        .session = job_session(job),
        .checkpoint_seconds = 60 * job->sweep->checkpoint_minutes,
    };

    environment_host(setup.host, sizeof(setup.host));
    memcpy(setup.mark, job->mark, sizeof(setup.mark));
    d->setup = setup_encode(&setup, &d->setup_size);
    return d->setup ? 0 : -1;
}

/*
 * How long to sleep between two checks for messages. Workers hold orders ahead, so an answer may be late by
 * the duration of these runs: the pause grows slowly, and is halved whenever a worker had to wait. Each check
 * costs about 15 us, mostly for falling asleep and waking.
 */
static double next_pause(struct dispatch *d, double pause)
{
    struct coordinator_state state;

    coordinator_state(d->job->coordinator, &state);
    bool waited = state.waits > d->waits;
    d->waits = state.waits;
    return waited ? fmax(pause / 2, PAUSE_LEAST) : fmin(pause * 1.1, PAUSE_MOST);
}

/* Time in which this process was stopped or waited for a disk does not count as silence of workers. */
static void advance_clock(struct dispatch *d)
{
    double clock = clock_now();

    d->now += fmin(clock - d->clock, GAP_MOST);
    d->clock = clock;
}

static void work_until_finished(struct dispatch *d)
{
    double pause = PAUSE_LEAST;

    while (!d->finished && !d->job->failed) {
        int count = 0;
        advance_clock(d);
        job_breathe(d->job, d->clock); /* first: after a long pause another process may have the lease */
        while (count < MESSAGES_AT_ONCE && !d->finished && listen(d))
            count++;
        if (count < MESSAGES_AT_ONCE)
            watch_workers(d);
        pause = next_pause(d, pause);
        if (count < MESSAGES_AT_ONCE && !d->finished)
            clock_pause(pause);
    }
}

/* Sets up the workers that have said hello before there was a job. A rank that gets ALIVE and no setup learns
 * that it is a spare. */
static void set_up_all(struct dispatch *d)
{
    for (int i = 0; i < d->peers->workers; i++)
        if (dispatch_peer(d, i)->bad_hello)
            dispatch_distrust(d, i, "a first message that no process can send");
        else if (dispatch_peer(d, i)->said_hello)
            dispatch_set_up(d, dispatch_peer(d, i));
    send_alive(d);
}

struct dispatch_end dispatch_run(struct job *job, struct wire *wire, struct peers *peers)
{
    struct dispatch *d = calloc(1, sizeof(*d));
    struct dispatch_end end = {.together = true};
    struct error error;

    if (d)
        *d = (struct dispatch){
            .job = job, .wire = wire, .peers = peers, .clock = clock_now(), .told_alive = clock_now()};
    if (!d || prepare_dispatch(d) != 0) {
        error_set(&error, ERROR_ENVIRONMENT, "%s: no memory", job->sweep->output);
        job_fail(job, &error);
        dispatch_dismiss(wire);
    } else {
        set_up_all(d);
        work_until_finished(d);
        for (int i = 0; i < peers->ranks; i++)
            send_quit(d, &peers->peer[i]);
        end = (struct dispatch_end){.together = is_whole(d), .abandoned = d->abandoned};
    }
    if (d)
        free(d->setup);
    free(d);
    return end;
}

void dispatch_dismiss(struct wire *wire)
{
    struct message quit = {.kind = MESSAGE_QUIT, .as.quit = {.together = true}};

    for (int rank = 1; rank < wire_size(wire); rank++)
        wire_send(wire, rank, &quit);
}
