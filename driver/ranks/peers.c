#include "driver/ranks/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All ranks return from MPI_Init together, and a worker that is reading texts reports every few seconds. */
enum { HELLO_SECONDS = 100, READY_SECONDS = 100 };

static bool grow_addresses(struct peers *peers, int address)
{
    if (address < peers->addresses)
        return true;
    int *more = realloc(peers->worker, ((size_t)address + 1) * sizeof(*more));
    if (!more)
        return false;
    while (peers->addresses <= address)
        more[peers->addresses++] = -1;
    peers->worker = more;
    return true;
}

int peers_init(struct peers *peers, int count, double now)
{
    *peers = (struct peers){.count = count, .nodes_size = 2 * count + 1};
    peers->peer = calloc((size_t)count + 1, sizeof(*peers->peer));
    peers->node = malloc((size_t)peers->nodes_size * sizeof(*peers->node));
    if (!peers->peer || !peers->node || !grow_addresses(peers, count)) {
        peers_release(peers);
        return -1;
    }
    for (int i = 0; i < peers->nodes_size; i++)
        peers->node[i] = -1;
    for (int i = 0; i < count; i++) {
        peers->peer[i] = (struct peer){.address = i + 1, .asked = now, .host = "?"};
        peers->worker[i + 1] = i;
    }
    return 0;
}

void peers_release(struct peers *peers)
{
    free(peers->peer);
    free(peers->worker);
    free(peers->node);
    *peers = (struct peers){0};
}

int peers_worker(const struct peers *peers, int address)
{
    return address >= 0 && address < peers->addresses ? peers->worker[address] : -1;
}

/* The number of the worker's machine: that of an earlier worker on it, or a new one. */
static int find_node(struct peers *peers, int worker)
{
    const char *place = peers->peer[worker].process.place;
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, place);
    for (int at = (int)(digest.low % (uint64_t)peers->nodes_size);; at = (at + 1) % peers->nodes_size) {
        int first = peers->node[at];
        if (first < 0) { /* the table never fills up: it has more entries than there are workers */
            peers->node[at] = worker;
            return peers->nodes++;
        }
        if (strcmp(peers->peer[first].process.place, place) == 0)
            return peers->peer[first].node;
    }
}

void peers_hello(struct peers *peers, int worker, const struct hello *hello, double now)
{
    struct peer *peer = &peers->peer[worker];
    bool known = peer->process.pid > 0;

    if (!known) { /* a replacement is on the same machine */
        peer->process = hello->process;
        peer->process.place[PROCESS_PLACE - 1] = '\0';
        peer->seat = hello->seat;
        snprintf(peer->host, sizeof(peer->host), "%.*s", process_host_length(peer->process.place),
            peer->process.place);
        peer->node = find_node(peers, worker);
    }
    peer->process.pid = hello->process.pid;
    peer->process.start = hello->process.start;
    peer->here = process_is_here(&peer->process);
    peer->said_hello = true;
    peer->silent = false;
    peer->asked = now;
}

void peers_hear(struct peers *peers, int worker, double now)
{
    struct peer *peer = &peers->peer[worker];

    peer->silent = false;
    if (peer->said_hello)
        peer->asked = now;
}

int peers_replace(struct peers *peers, int worker, int address, double now)
{
    struct peer *peer = &peers->peer[worker];

    if (!grow_addresses(peers, address))
        return -1;
    peers->worker[peer->address] = -1;
    peers->worker[address] = worker;
    peer->address = address;
    peer->said_hello = peer->ready = peer->dead = peer->silent = false;
    peer->asked = now;
    return 0;
}

bool peer_is_dead(const struct peer *peer, double now)
{
    if (!peer->said_hello)
        return now - peer->asked > HELLO_SECONDS;
    if (!peer->ready && now - peer->asked > READY_SECONDS)
        return true;
    return peer->here && !process_lives(&peer->process);
}
