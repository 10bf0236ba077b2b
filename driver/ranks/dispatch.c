/*
 * The coordinator's loop on MPI. The coordinator decides and knows neither MPI nor files; this file feeds it.
 *
 * A round: the clock advances, the job flushes what is due, messages that have arrived become events, and
 * once a second all ranks are looked at: dead and silent ones become events, too, and spares take their
 * places. The coordinator answers each event with orders, which become messages to workers or writes of the
 * job.
 *
 * Whatever a worker sends may be wrong, because its memory may be: messages are checked by plausible.c, and a
 * worker that sends nonsense gets no more runs. A worker may die at any moment, or wake after it was given
 * up: tickets tell what it says of a run that another worker has now. An error of the job ends the loop;
 * every rank is told to quit.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_AT_ONCE = 1000, MANY_MESSAGES = 50 };

#define LOOK_SECONDS 1 /* between two checks whether workers are alive */
#define ALIVE_SECONDS 5 /* between two ALIVE messages to every rank: see worker/wire/loop.c */
#define MUTE_SECONDS 30 /* without ALIVE messages, after which workers may be ending themselves */
#define WAKE_SECONDS 110 /* to wait for silent workers with live processes if there are no others */
#define PAUSE_LEAST 100e-6 /* between two checks for messages */
#define PAUSE_MOST 5e-3
#define SIGNALS_SECONDS 5 /* after which signals are passed on even if some ranks have not said hello */

/*
 * For all workers to be ready before the first run is handed out: time enough for one on a host without the
 * output's folder to say so (see worker/wire/loop.c), before anything is trained in vain. Workers of
 * one host read a long text together; those of other hosts do not wait longer for it.
 */
#define BEGIN_SECONDS 30

#define GAP_MOST 1 /* seconds between two checks that count as listening, at most */

struct dispatch {
    struct job *job;
    struct wire *wire;
    struct peers *peers; /* borrowed */
    int lost; /* ranks that ever died or were given up, also those that a spare has replaced */
    unsigned char *setup;
    size_t setup_size;
    struct message in, out;
    const struct result *result; /* of the event being handled */
    char last_words[REASON_SIZE]; /* last log line of the worker that died in this event; "": none */
    int64_t waits; /* how often workers had to wait, when last checked */
    int introduced; /* ranks that had said hello when they were last told of their neighbours */
    bool told_ready, begun, stopping, finished, abandoned; /* begun: runs are handed out */
    double looked, forgiving; /* forgiving: until this time no run is blamed for a death */
    double clock; /* clock_now() of this round */
    double told_alive; /* clock of the last ALIVE message to every worker */
    /* Listening time in seconds; frozen while this process is paused, so that no worker times out. */
    double now;
};

/* Prints a line on stderr, with the name of the output before it. */
__attribute__((format(printf, 2, 3))) static void say(const struct dispatch *d, const char *format, ...)
{
    char text[REASON_SIZE + 128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    JOB_TELL(d->job, .kind = JOB_SPEAKS);
    lines_print(stderr, 0, "%s: %s", d->job->sweep->output, text);
}

static struct peer *peer_of(const struct dispatch *d, int worker)
{
    return d->peers->worker[worker];
}

/* The cell of the run that a worker has under a ticket; below 0: none, or what it says no longer counts. */
static int64_t cell_of(const struct dispatch *d, int worker, uint64_t ticket)
{
    return coordinator_cell(d->job->coordinator, worker, ticket);
}

/* Tells the observers that a worker is lost, while it trained this cell. */
static void tell_loss(const struct dispatch *d, int worker, int64_t cell, const char *why)
{
    const struct peer *peer = peer_of(d, worker);

    JOB_TELL(d->job, .kind = JOB_WORKER_LOST, .worker = worker, .host = peer->host, .rank = peer->address,
        .cell = cell, .why = why);
}

/* ---- orders out ---- */

static struct message *blank(struct dispatch *d, enum message_kind kind)
{
    d->out.kind = kind;
    return &d->out;
}

/* Sends a rank what it needs before its first order. */
static void set_up(struct dispatch *d, const struct peer *peer)
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
    out->shares = job_trunk(d->job, order->cell, &out->trunk);
    out->resume = job_has_files(d->job, order->cell);
    wire_send(d->wire, peer_of(d, order->worker)->address, &d->out);
}

static void obey(struct dispatch *d, const struct order *order)
{
    char why[REASON_SIZE];
    struct peer *peer;

    switch (order->kind) {
    case ORDER_RUN:
        send_order(d, order);
        break;
    case ORDER_STOP: /* without saving if the sweep goes on, because then another worker has the run */
        blank(d, MESSAGE_STOP)->as.stop = (struct stop){.ticket = order->ticket, .save = d->stopping};
        wire_send(d->wire, peer_of(d, order->worker)->address, &d->out);
        break;
    case ORDER_QUIT:
        break; /* all ranks are told at the end, also those that never said hello */
    case ORDER_GIVE_UP: /* the worker has been silent for too long; an order about its run follows */
        peer = peer_of(d, order->worker);
        peer->silent = true;
        d->lost++;
        snprintf(why, sizeof(why), "has been silent for %.0f s", d->now - peer->awaited);
        say(d, "worker %d on %s %s%s", order->worker + 1, peer->host, why,
            order->cell >= 0 ? "; its run goes to another worker" : "");
        tell_loss(d, order->worker, order->cell, why);
        break;
    case ORDER_PARDON:
        job_pardon(d->job, order->cell, order->deaths);
        break;
    case ORDER_SHUT:
    case ORDER_OPEN:
        peer = peer_of(d, order->worker);
        if (order->kind == ORDER_SHUT)
            say(d,
                "%s gets no more runs: workers died there in %d runs, and none has ended there; they go to "
                "other hosts, and these deaths do not count",
                peer->host, STRIKES);
        else
            say(d, "%s gets runs again", peer->host);
        job_host(d->job, peer->host, order->kind == ORDER_SHUT);
        break;
    case ORDER_FINISH:
        d->finished = true;
        break;
    case ORDER_ACCEPT:
    case ORDER_RETURN:
    case ORDER_FAIL:
        job_obey(d->job, order, d->result, d->last_words);
        break;
    }
}

/* Passes an event to the coordinator, with the present time, and carries out its orders. */
static void tell(struct dispatch *d, struct event event)
{
    struct order order;

    event.now = d->now;
    coordinator_handle(d->job->coordinator, &event);
    while (coordinator_next(d->job->coordinator, &order))
        obey(d, &order);
}

/* Tells the coordinator of a worker that is ready. It numbers machines below the number of workers; where
 * some have spares alone, two may share a number. */
static void tell_hello(struct dispatch *d, int worker)
{
    int node = peer_of(d, worker)->node % d->peers->workers;

    tell(d, (struct event){.kind = EVENT_HELLO, .worker = worker, .node = node});
}

/* ---- workers that die, fall silent or lie, and the spares that take their places ---- */

/* Is the worker silent, and may it still be waiting for a slow disk? When it comes back, it has measured how
 * slow the disk is. */
static bool may_come_back(const struct dispatch *d, const struct peer *peer)
{
    return peer->silent && peer->here && d->now - peer->awaited < WAKE_SECONDS &&
           process_lives(&peer->process) && !process_is_stopped(&peer->process);
}

/* Tells the ranks of other machines, which this process cannot watch, of up to NEIGHBOURS_MOST ranks of their
 * machine, when ranks have said hello since the last time. */
static void introduce_neighbours(struct dispatch *d)
{
    int hellos = 0;

    for (int i = 0; i < d->peers->ranks; i++)
        hellos += d->peers->peer[i].said_hello;
    if (hellos == d->introduced)
        return;
    d->introduced = hellos;
    for (int i = 0; i < d->peers->ranks; i++) {
        const struct peer *peer = &d->peers->peer[i];
        struct neighbours *them = &blank(d, MESSAGE_NEIGHBOURS)->as.neighbours;
        them->count = 0;
        if (!peer->said_hello || peer->here || peer->dead)
            continue;
        for (const struct peer *it = peer->next; it != peer && them->count < NEIGHBOURS_MOST; it = it->next)
            if (!it->dead)
                them->rank[them->count++] =
                    (struct neighbour){it->address, it->process.pid, it->process.start};
        if (them->count > 0)
            wire_send(d->wire, peer->address, &d->out);
    }
}

/* A rank that is dead, or taken for dead: if it still runs it must neither train nor write. Nothing else is
 * sent to it, and what it sends is ignored. */
static void dismiss(struct dispatch *d, struct peer *peer)
{
    blank(d, MESSAGE_QUIT)->as.quit = (struct quit){.together = false};
    wire_send(d->wire, peer->address, &d->out);
    peer->dead = true;
    d->lost++;
    wire_forget(d->wire, peer->address);
}

/* Ends a worker that has sent `what`, which cannot be true, and ignores what it still sends. Its runs go to
 * others; the one in training may have done the damage, and is blamed as for a death. */
static void distrust(struct dispatch *d, int worker, const char *what)
{
    struct peer *peer = peer_of(d, worker);
    char why[REASON_SIZE];

    snprintf(why, sizeof(why), "sent %s", what);
    say(d, "worker %d on %s %s; it gets no more runs", worker + 1, peer->host, why);
    tell_loss(d, worker, cell_of(d, worker, peer->ticket), why);
    dismiss(d, peer);
    tell(d, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = !d->stopping});
}

/* Gives the places of lost workers to spares if there are runs that no worker is training. A worker that was
 * given up would find its place taken when it wakes: it is told to quit. */
static void replace_lost(struct dispatch *d)
{
    struct coordinator_state state;

    coordinator_state(d->job->coordinator, &state);
    if (d->stopping || state.pending == 0)
        return;
    for (int i = 0; i < d->peers->workers && d->peers->spares > 0; i++) {
        struct peer *old = peer_of(d, i);
        bool gone = old->dead || (old->silent && !may_come_back(d, old));
        const struct peer *new = gone ? peers_replace(d->peers, i, d->now) : NULL;
        if (!new)
            continue;
        if (!old->dead) {
            dismiss(d, old);
            tell(d, (struct event){.kind = EVENT_LOST, .worker = i});
        }
        set_up(d, new);
    }
}

/* Looks for dead ranks. The log of a dead worker is appended to that of the run that it was training, which
 * goes to another. */
static void bury_dead(struct dispatch *d)
{
    for (int i = 0; i < d->peers->ranks; i++) {
        struct peer *peer = &d->peers->peer[i];
        int worker = peer->worker, left = 0;
        char name[DIGEST_TEXT];
        if (peer->dead || !peer_is_dead(peer, d->now))
            continue;
        dismiss(d, peer);
        if (worker < 0) {
            d->peers->spares -= peer->spare;
            say(d, "the spare rank %d on %s was lost", peer->address, peer->host);
            continue;
        }
        for (int j = 0; j < d->peers->workers; j++)
            left += !peer_of(d, j)->dead;
        int64_t cell = cell_of(d, worker, peer->ticket);
        if (cell >= 0)
            job_name(d->job, cell, name);
        log_bequeath(d->job->folder, job_session(d->job), peer->address, cell >= 0 ? name : NULL,
            d->last_words, sizeof(d->last_words));
        say(d, "worker %d on %s was lost%s%s; %d of %d %s left", worker + 1, peer->host,
            d->last_words[0] ? ", " : "", d->last_words, left, d->peers->workers, left == 1 ? "is" : "are");
        tell_loss(d, worker, cell, d->last_words[0] ? d->last_words : "died");
        bool blame = (peer->here || peer->reported) && !d->stopping && d->now >= d->forgiving;
        tell(d, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = blame});
        d->last_words[0] = '\0';
    }
}

/* ---- messages in ---- */

/* An error that ends the sweep: a full disk, other texts. But a worker that was given up may wake to find
 * its files removed, because another worker has the run; that is not an error. */
static void take_failure(struct dispatch *d, int worker, struct failure *failure)
{
    const struct peer *peer = peer_of(d, worker);
    struct error error;

    if (peer->ready && cell_of(d, worker, peer->ticket) < 0)
        return;
    failure->text[REASON_SIZE - 1] = '\0';
    error_set(&error, failure->status == ERROR_INPUT ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s", peer->host,
        failure->text);
    job_break_off(d->job, &error);
}

/* A worker has reported something about the run of `ticket`. */
static void take_word(struct dispatch *d, enum event_kind kind, int worker, uint64_t ticket)
{
    struct peer *peer = peer_of(d, worker);

    peer->ticket = ticket;
    tell(d, (struct event){.kind = kind, .worker = worker, .ticket = ticket, .patience = peer->patience});
}

static void take_ready(struct dispatch *d, int worker)
{
    struct peer *peer = peer_of(d, worker);

    if (!peer->said_hello) {
        distrust(d, worker, "no hello before it was ready");
        return;
    }
    peer->ready = true;
    if (peer->was_spare) {
        say(d, "worker %d on %s has been replaced", worker + 1, peer->host);
        JOB_TELL(
            d->job, .kind = JOB_WORKER_REPLACED, .worker = worker, .host = peer->host, .rank = peer->address);
    }
    if (d->begun)
        tell_hello(d, worker);
}

/* The state that it shares does not pardon its deaths: a run that dies later leaves that anew whenever it
 * starts again. */
static void take_checkpoint(struct dispatch *d, int worker)
{
    const struct run_checkpoint *checkpoint = &d->in.as.checkpoint;
    int64_t cell = cell_of(d, worker, checkpoint->ticket);

    if (cell >= 0 && checkpoint->kept)
        job_kept(d->job, cell);
    else if (cell >= 0)
        job_checkpoint(d->job, cell);
    take_word(d, checkpoint->kept ? EVENT_PROGRESS : EVENT_CHECKPOINT, worker, checkpoint->ticket);
}

/* Takes the message in d->in: checks it, writes what it brings, and tells the coordinator. */
static void take_message(struct dispatch *d, int worker)
{
    const struct run_progress *progress = &d->in.as.progress;
    const struct row_piece *row = &d->in.as.row;
    const struct run_result *result = &d->in.as.result;
    struct peer *peer = peer_of(d, worker);
    int64_t cell;

    switch ((enum message_kind)d->in.kind) {
    case MESSAGE_HELLO:
        if (peer->said_hello || !plausible_hello(&d->in.as.hello)) {
            distrust(d, worker, peer->said_hello ? "a second hello" : "a hello that no process can send");
            break;
        }
        peers_hello(d->peers, peer, &d->in.as.hello, d->now);
        set_up(d, peer);
        break;
    case MESSAGE_READY:
        take_ready(d, worker);
        break;
    case MESSAGE_FAILED:
        take_failure(d, worker, &d->in.as.failure);
        break;
    case MESSAGE_NOTE:
        d->in.as.text[REASON_SIZE - 1] = '\0';
        say(d, "%s", d->in.as.text);
        break;
    case MESSAGE_PROGRESS:
        cell = cell_of(d, worker, progress->ticket);
        if (!plausible_progress(d->job, cell, progress)) {
            distrust(d, worker, "progress that its run cannot make");
            break;
        }
        if (cell >= 0 && progress->step >= 0)
            job_step(d->job, worker, cell, peer->host, progress->step, progress->last_step, progress->tokens);
        peer->patience = progress->patience;
        take_word(d, EVENT_PROGRESS, worker, progress->ticket);
        break;
    case MESSAGE_CHECKPOINT:
        take_checkpoint(d, worker);
        break;
    case MESSAGE_ROW:
        cell = cell_of(d, worker, row->ticket);
        if (!plausible_row(d->job, cell, row)) {
            distrust(d, worker, "a row that its run does not have");
            break;
        }
        if (cell >= 0)
            job_row(d->job, worker, cell, row->step, row->values, (size_t)row->offset, (size_t)row->count);
        take_word(d, EVENT_PROGRESS, worker, row->ticket);
        break;
    case MESSAGE_RESULT:
        if (!plausible_result(d->job, cell_of(d, worker, result->ticket), &result->result)) {
            distrust(d, worker, "a result that its run cannot have");
            break;
        }
        d->result = &result->result;
        tell(d, (struct event){.kind = EVENT_RESULT,
                    .worker = worker,
                    .ticket = result->ticket,
                    .ended = result->result.outcome != OUTCOME_PENDING});
        break;
    case MESSAGE_DAMAGED:
    case MESSAGE_SETUP:
    case MESSAGE_ORDER:
    case MESSAGE_STOP:
    case MESSAGE_QUIT:
    case MESSAGE_NEIGHBOURS:
    case MESSAGE_ALIVE:
    case MESSAGE_LOSS: /* which receive() has taken */
        distrust(d, worker, "a message that no worker sends");
        break;
    }
}

/* False if nothing has arrived. Ignores what a worker sent before it died; a spare only says that it is
 * alive. */
static bool receive(struct dispatch *d)
{
    int address;

    if (!wire_receive(d->wire, &address, &d->in))
        return false;
    struct peer *peer = peers_at(d->peers, address);
    if (!peer || peer->dead)
        return true;
    peers_hear(peer, d->now);
    if (d->in.kind == MESSAGE_LOSS) { /* another rank is dead, which only one of the same machine can know */
        struct peer *lost = peers_at(d->peers, d->in.as.lost.address);
        if (peer->said_hello && lost && lost != peer && lost->said_hello && lost->node == peer->node) {
            lost->reported = true;
            d->looked = -INFINITY;
        }
    } else if (peer->worker >= 0) {
        take_message(d, peer->worker);
    } else if (d->in.kind == MESSAGE_HELLO && plausible_hello(&d->in.as.hello)) {
        peers_hello(d->peers, peer, &d->in.as.hello, d->now); /* it is late: a spare from now on */
    }
    return true;
}

/* ---- watching ---- */

static void send_alive(struct dispatch *d)
{
    blank(d, MESSAGE_ALIVE);
    for (int i = 0; i < d->peers->ranks; i++)
        if (d->peers->peer[i].said_hello && !d->peers->peer[i].dead)
            wire_send(d->wire, d->peers->peer[i].address, &d->out);
}

static void stop_all(struct dispatch *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    JOB_TELL(d->job, .kind = JOB_STOPS);
    tell(d, (struct event){.kind = EVENT_STOP});
}

/* The second half of a round: signals, the stages of the start, and once a second all ranks. `more`: messages
 * may be waiting. */
static void watch_workers(struct dispatch *d, bool more)
{
    double silence = d->clock - d->told_alive;

    if (signals_stop() || d->job->moved)
        stop_all(d);
    if (!d->told_ready && (d->now > SIGNALS_SECONDS || peers_are_there(d->peers))) {
        lease_tell(d->job->lease, STAGE_READY, 0);
        d->told_ready = true;
    }
    bool ready = true; /* workers whose hello is late are not awaited */
    for (int i = 0; !d->begun && ready && i < d->peers->workers; i++)
        ready = !peer_of(d, i)->said_hello || peer_of(d, i)->ready || peer_of(d, i)->dead;
    if (!d->begun && (d->now > BEGIN_SECONDS || ready)) {
        d->begun = true; /* from now on every worker that is ready gets runs */
        for (int i = 0; i < d->peers->workers; i++)
            if (peer_of(d, i)->ready && !peer_of(d, i)->dead)
                tell_hello(d, i);
    }
    if (d->now - d->looked < LOOK_SECONDS)
        return;
    d->looked = d->now;
    if (!lease_owner_lives(d->job->lease))
        stop_all(d); /* a script around mpirun may have kept mpirun from ending with its launcher */
    if (silence >= ALIVE_SECONDS) {
        /* If this process was paused or waited for a disk, workers may have ended themselves for lack of this
         * message, which is not the fault of their runs. */
        if (silence > MUTE_SECONDS)
            d->forgiving = d->now + MUTE_SECONDS;
        d->told_alive = d->clock;
        send_alive(d);
    }
    introduce_neighbours(d);
    if (more) /* perhaps what a worker has sent before it died, or a word of one that seems to be silent */
        return;
    bury_dead(d);
    replace_lost(d);
    /* Is every worker dead, silent, or about to quit? Is one dead or silent now? One that a spare has
     * replaced does not count. */
    struct coordinator_state state;
    bool left = false, lacks = false;
    for (int i = 0; i < d->peers->workers; i++) {
        const struct peer *peer = peer_of(d, i);
        left = left || (!peer->dead && (!peer->ready || may_come_back(d, peer)));
        lacks = lacks || peer->dead || peer->silent;
    }
    coordinator_state(d->job->coordinator, &state);
    if (d->begun && !left && state.workers == 0) {
        d->abandoned = !d->stopping && lacks;
        stop_all(d);
    }
    tell(d, (struct event){.kind = EVENT_TICK});
}

/*
 * The rounds. The pause between two of them grows slowly, and is halved whenever a worker had to wait:
 * workers hold orders ahead, so an answer may be late by the duration of these runs. It is also halved when
 * many messages have come, as MPI's buffers may be full, in which case their senders wait. Each check for
 * messages costs about 15 us, mostly for falling asleep and waking.
 */
static void work_until_finished(struct dispatch *d)
{
    double pause = PAUSE_LEAST;
    struct coordinator_state state;

    while (!d->finished && !d->job->failed) {
        double clock = clock_now();
        int count = 0;
        /* Time in which this process was stopped or waited for a disk does not count as silence of workers.
         */
        d->now += fmin(clock - d->clock, GAP_MOST);
        d->clock = clock;
        job_breathe(d->job, d->clock); /* first: after a long pause another process may have the lease */
        while (count < MESSAGES_AT_ONCE && !d->finished && receive(d))
            count++;
        if (!d->finished)
            watch_workers(d, count == MESSAGES_AT_ONCE);
        coordinator_state(d->job->coordinator, &state);
        pause = state.waits > d->waits || count > MANY_MESSAGES ? fmax(pause / 2, PAUSE_LEAST)
                                                                : fmin(pause * 1.1, PAUSE_MOST);
        d->waits = state.waits;
        if (count < MESSAGES_AT_ONCE && !d->finished)
            clock_pause(pause);
    }
}

struct dispatch_end dispatch_run(struct job *job, struct wire *wire, struct peers *peers)
{
    struct dispatch d = {
        .job = job, .wire = wire, .peers = peers, .clock = clock_now(), .told_alive = clock_now()};
    struct threads threads = threads_of(job->sweep);
    struct coordinator_state state;
    struct setup setup = {.source = job->sweep->source,
        .corpus = job->corpus->digest,
        .measure = job->sweep->measure,
        .starts = job->sweep->starts,
        .threads = threads.least == threads.most ? threads.least : 0,
        .folder = job->folder,
        .session = job_session(job),
        .checkpoint_seconds = 60 * job->sweep->checkpoint_minutes};

    environment_host(setup.host, sizeof(setup.host));
    memcpy(setup.mark, job->mark, sizeof(setup.mark));
    d.setup = setup_encode(&setup, &d.setup_size);
    if (!d.setup)
        memory_end();
    /* The workers that have said hello before there was a job. A rank that gets ALIVE and no setup learns
     * that it is a spare. */
    for (int i = 0; i < peers->workers; i++)
        if (peer_of(&d, i)->bad_hello)
            distrust(&d, i, "a first message that no process can send");
        else if (peer_of(&d, i)->said_hello)
            set_up(&d, peer_of(&d, i));
    send_alive(&d);
    work_until_finished(&d);
    /* Are all ranks alive, so that they can end together? Nothing waits for one that has not said hello. */
    coordinator_state(job->coordinator, &state);
    bool together = d.lost == 0 && state.silent == 0 && peers_are_there(peers);
    /* After a signal MPICH's mpiexec ends with the status of any rank, so all have the coordinator's. The
     * launcher has it from the lease; mpirun would comment on it. */
    bool stopped = d.stopping && job_pending(job) > 0 && !job->failed && !job->moved;
    int status = stopped && !getenv(LEASE_VARIABLE) ? STATUS_STOPPED : STATUS_DONE;
    for (int i = 0; i < peers->ranks; i++) {
        const struct peer *peer = &peers->peer[i];
        blank(&d, MESSAGE_QUIT)->as.quit =
            (struct quit){.together = together, .save = job->failed && !peer->silent, .status = status};
        if (!peer->dead)
            wire_send(wire, peer->address, &d.out);
    }
    free(d.setup);
    return (struct dispatch_end){.together = together, .abandoned = d.abandoned};
}

void dispatch_dismiss(struct wire *wire)
{
    struct message quit = {.kind = MESSAGE_QUIT, .as.quit = {.together = true}};

    for (int rank = 1; rank < wire_size(wire); rank++)
        wire_send(wire, rank, &quit);
}
