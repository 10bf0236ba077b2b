/*
 * In its hello a rank tells its number among those of its machine, as mpirun has set it. The coordinator
 * decides which ranks are spares, since only it knows whether it is itself on that machine. A collective call
 * of MPI would never return if a rank has died. The job needs the number of workers when it is opened, so
 * the coordinator waits for the hellos before that.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All ranks return from MPI_Init together, and a worker that is reading texts reports every few seconds. */
enum { HELLO_SECONDS = 100, READY_SECONDS = 100 };

#define ROLES_SECONDS 5 /* for the hellos of all ranks, before workers are told from spares */
#define SPARE_SECONDS 15 /* since a spare's last message: three times as long as between two of them */

bool peers_are_there(const struct peers *peers)
{
    for (int i = 0; i < peers->ranks; i++)
        if (!peers->peer[i].said_hello && !peers->peer[i].bad_hello)
            return false;
    return true;
}

void peers_await(struct peers *peers, struct wire *wire, double now)
{
    double end = clock_now() + ROLES_SECONDS;
    struct patience patience = {0};
    struct message message;
    int address;

    while (!peers_are_there(peers) && clock_now() < end) {
        if (!wire_receive(wire, &address, &message)) {
            patience_wait(&patience);
            continue;
        }
        struct peer *peer = peers_at(peers, address);
        if (peer && message.kind == MESSAGE_HELLO && plausible_hello(&message.as.hello))
            peers_hello(peers, peer, &message.as.hello, now);
        else if (peer)
            peer->bad_hello = true;
        patience_renew(&patience);
    }
    peers_assign(peers);
}

void peers_init(struct peers *peers, int ranks, int spares_each, double now)
{
    *peers = (struct peers){.ranks = ranks,
        .spares_each = spares_each,
        .peer = memory_new((size_t)ranks, sizeof(*peers->peer)),
        .worker = memory_new((size_t)ranks, sizeof(struct peer *)),
        .node = memory_new((size_t)ranks, sizeof(struct peer *))};
    environment_host(peers->host, sizeof(peers->host));
    for (int i = 0; i < ranks; i++)
        peers->peer[i] = (struct peer){.address = i + 1, .worker = -1, .awaited = now, .host = "?"};
}

void peers_assign(struct peers *peers)
{
    /* How many of the ranks that have not said hello must be workers: as many as the known hosts lack, and
     * all on hosts of which no rank has said hello. */
    int64_t late = peers->host_workers + peers->ranks - peers->host_ranks;

    for (int i = 0; i < peers->ranks; i++)
        late -= peers->peer[i].said_hello && !peers->peer[i].spare;
    for (int i = 0; i < peers->ranks; i++) {
        struct peer *peer = &peers->peer[i];
        bool works = peer->said_hello ? !peer->spare : late-- > 0 || peer->bad_hello;
        if (i == peers->ranks - 1 &&
            peers->workers == 0) { /* damaged ranks may all say that they are spares */
            peer->spare = false;
            works = true;
        }
        peers->spares += peer->spare;
        if (!works)
            continue;
        peer->worker = peers->workers;
        peers->worker[peers->workers++] = peer;
    }
    peers->assigned = true;
}

void peers_release(struct peers *peers)
{
    free(peers->peer);
    free((void *)peers->worker);
    free((void *)peers->node);
    *peers = (struct peers){0};
}

struct peer *peers_at(const struct peers *peers, int64_t address)
{
    return address >= 1 && address <= peers->ranks ? &peers->peer[address - 1] : NULL;
}

void peers_hello(struct peers *peers, struct peer *peer, const struct hello *hello, double now)
{
    if (peer->said_hello)
        return;
    peer->process = hello->process;
    peer->process.place[PROCESS_PLACE - 1] = '\0';
    snprintf(peer->host, sizeof(peer->host), "%.*s", process_host_length(peer->process.place),
        peer->process.place);
    peer->here = process_is_here(&peer->process);
    /* From a place among all ranks of a machine to one among its workers. On the coordinator's machine the
     * first rank is the coordinator. */
    int first = strcmp(peer->host, peers->host) == 0;
    int64_t spares = 0;
    peer->seat = (struct seat){-1, -1};
    if (hello->seat.number >= first && hello->seat.number < hello->seat.count) {
        int64_t others = hello->seat.count - first - 1;
        spares = others < peers->spares_each ? others : peers->spares_each;
        peer->seat = (struct seat){hello->seat.number - first, others + 1 - spares};
    }
    /* It joins the ring of an earlier rank on its machine, or is the first one there. */
    peer->node = 0;
    while (
        peer->node < peers->nodes && strcmp(peers->node[peer->node]->process.place, peer->process.place) != 0)
        peer->node++;
    if (peer->node < peers->nodes) {
        peer->next = peers->node[peer->node]->next;
        peers->node[peer->node]->next = peer;
    } else {
        peers->node[peers->nodes++] = peer->next = peer;
        if (peer->seat.count > 0) {
            peers->host_workers += peer->seat.count;
            peers->host_ranks += peer->seat.count + spares;
        }
    }
    bool last = peer->seat.count > 0 && peer->seat.number >= peer->seat.count;
    peer->spare = peer->worker < 0 && (last || peers->assigned);
    peers->spares += peers->assigned && peer->spare;
    peer->said_hello = true;
    peers_hear(peer, now);
}

void peers_hear(struct peer *peer, double now)
{
    peer->silent = false;
    if (peer->said_hello)
        peer->awaited = now;
}

struct peer *peers_replace(struct peers *peers, int worker, double now)
{
    struct peer *old = peers->worker[worker];

    for (struct peer *new = old->next; new &&new != old; new = new->next) {
        if (!new->spare || new->dead || now - new->awaited > SPARE_SECONDS)
            continue;
        old->worker = -1;
        new->worker = worker;
        new->seat = old->seat;
        new->spare = false;
        new->was_spare = true;
        new->awaited = now;
        peers->worker[worker] = new;
        peers->spares--;
        return new;
    }
    return NULL;
}

bool peer_is_dead(const struct peer *peer, double now)
{
    if (!peer->said_hello)
        return now - peer->awaited > HELLO_SECONDS;
    if (!peer->ready && !peer->spare && now - peer->awaited > READY_SECONDS)
        return true;
    return peer->here ? !process_lives(&peer->process) : peer->reported;
}
