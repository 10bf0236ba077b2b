/* Ranks that die or fall silent, and the spares that take their places. */
#include "driver/ranks/dispatch_inside.h"

#include "driver/job/events.h"
#include "worker/host/log.h"

#include <stdio.h>

void dispatch_note_silence(struct dispatch *d, const struct order *order)
{
    struct peer *peer = dispatch_peer(d, order->worker);
    char why[REASON_SIZE];

    peer->silent = true;
    d->lost++;
    snprintf(why, sizeof(why), "has been silent for %.0f s", peer->patience);
    dispatch_say(d, "worker %d on %s %s%s", order->worker + 1, peer->host, why,
        order->cell >= 0 ? "; its run goes to another worker" : "");
    events_worker_lost(d->job, order->worker, peer->host, peer->address, order->cell, why);
}

static int count_dead(const struct dispatch *d)
{
    int dead = 0;

    for (int i = 0; i < d->peers->workers; i++)
        dead += dispatch_peer(d, i)->dead;
    return dead;
}

/* Appends a dead worker's log to the log of the run that it was training. */
static void keep_log(struct dispatch *d, int worker)
{
    const struct peer *peer = dispatch_peer(d, worker);
    int64_t cell = coordinator_cell(d->job->coordinator, worker, peer->ticket);
    char name[DIGEST_TEXT];
    struct digest digest;

    if (cell >= 0) {
        job_digest(d->job, cell, &digest);
        digest_format(&digest, name);
    }
    log_bequeath(d->job->folder, job_session(d->job), peer->address, cell >= 0 ? name : NULL, d->last_words,
        sizeof(d->last_words));
}

/* Nothing is sent to the rank any more, and what it sends is ignored. */
static void write_off(struct dispatch *d, struct peer *peer)
{
    peer->dead = true;
    d->lost++;
    wire_forget(d->wire, peer->address);
}

/* Logs that a worker is lost, with the run that it reported last. */
static void note_loss(struct dispatch *d, int worker, const char *why)
{
    const struct peer *peer = dispatch_peer(d, worker);
    int64_t cell = coordinator_cell(d->job->coordinator, worker, peer->ticket);

    events_worker_lost(d->job, worker, peer->host, peer->address, cell, why);
}

static void handle_death(struct dispatch *d, int worker)
{
    struct peer *peer = dispatch_peer(d, worker);
    int left = d->peers->workers - count_dead(d) - 1;

    write_off(d, peer);
    keep_log(d, worker);
    dispatch_say(d, "worker %d on %s was lost%s%s; %d of %d %s left", worker + 1, peer->host,
        d->last_words[0] ? ", " : "", d->last_words, left, d->peers->workers, left == 1 ? "is" : "are");
    note_loss(d, worker, d->last_words[0] ? d->last_words : "died");
    bool blame = peer->here && !d->stopping && d->now >= d->forgiving;
    dispatch_tell(d, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = blame});
    d->last_words[0] = '\0';
}

/* A worker that may still run must neither train nor write. */
static void dismiss(struct dispatch *d, struct peer *peer)
{
    const struct message quit = {.kind = MESSAGE_QUIT};

    wire_send(d->wire, peer->address, &quit);
    write_off(d, peer);
}

void dispatch_distrust(struct dispatch *d, int worker, const char *what)
{
    struct peer *peer = dispatch_peer(d, worker);
    char why[REASON_SIZE];

    snprintf(why, sizeof(why), "sent %s", what);
    dispatch_say(d, "worker %d on %s %s; it gets no more runs", worker + 1, peer->host, why);
    note_loss(d, worker, why);
    dismiss(d, peer);
    dispatch_tell(d, (struct event){.kind = EVENT_LOST, .worker = worker, .blame = !d->stopping});
}

/* A worker that was given up would find its place taken when it wakes: it is told to quit. */
void dispatch_replace(struct dispatch *d)
{
    struct coordinator_state state;

    coordinator_state(d->job->coordinator, &state);
    if (d->stopping || state.pending == 0)
        return;
    for (int i = 0; i < d->peers->workers && d->peers->spares > 0; i++) {
        struct peer *old = dispatch_peer(d, i);
        bool gone = old->dead || (old->silent && !dispatch_may_come_back(d, old));
        const struct peer *new = gone ? peers_replace(d->peers, i, d->now) : NULL;
        if (!new)
            continue;
        if (!old->dead) {
            dismiss(d, old);
            dispatch_tell(d, (struct event){.kind = EVENT_LOST, .worker = i});
        }
        dispatch_set_up(d, new);
    }
}

void dispatch_bury(struct dispatch *d)
{
    for (int i = 0; i < d->peers->ranks; i++) {
        struct peer *peer = &d->peers->peer[i];
        if (peer->dead || !peer_is_dead(peer, d->now))
            continue;
        if (peer->worker >= 0) {
            handle_death(d, peer->worker);
            continue;
        }
        d->peers->spares -= peer->spare;
        write_off(d, peer);
        dispatch_say(d, "the spare rank %d on %s was lost", peer->address, peer->host);
    }
}
