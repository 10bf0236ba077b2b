#ifndef NORMSWEEP_DRIVER_RANKS_PEERS_H
#define NORMSWEEP_DRIVER_RANKS_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/wire/message.h"

/*
 * The ranks of a job besides the coordinator: the machine of each, whether it is alive, and which worker it
 * is. Workers are numbered from 0. A worker keeps its number when a spare, a rank that waits for this, takes
 * its place.
 */
struct peer {
    int address; /* on the wire */
    int worker; /* -1: a spare, a late rank that will be one, or a rank whose place a spare has taken */
    struct process process; /* valid once said_hello */
    char host[HOST_SIZE]; /* "?" before said_hello */
    struct seat seat; /* among the workers of its host; a spare has the one of the worker that it replaces */
    int node; /* number of its machine, in the order of hellos */
    bool said_hello, ready, here; /* here: on the coordinator's machine */
    bool spare; /* waits for the place of a worker */
    bool was_spare;
    bool bad_hello; /* its first message was not a hello that a process can send */
    bool dead, silent; /* silent: given up, although it may come back */
    bool quit; /* has been told to quit */
    double asked; /* clock of its last message, or since when its hello or its readiness is expected */
    uint64_t ticket; /* of its last report */
    double patience; /* seconds that it may be silent, by its last report */
};

struct peers {
    int ranks;
    struct peer *peer; /* [ranks], by address; the first one is rank 1 */
    int workers, spares; /* spares: that still wait */
    struct peer **worker; /* [workers] the rank of each */
    bool assigned; /* workers and spares are told apart */
    int spares_each; /* that each machine has started with, if it has so many ranks besides a worker */
    char host[HOST_SIZE]; /* the coordinator's */
    int *node; /* [nodes_size] hash table by place: a peer on that machine; -1: free */
    int nodes_size, nodes;
    int64_t host_workers,
        host_ranks; /* on the machines of those that have said hello, without the coordinator */
};

/* For the `ranks` besides the coordinator. They have not said hello yet. All functions here take `now` from
 * one clock. -1: no memory. */
int peers_init(struct peers *peers, int ranks, int spares_each, double now);
void peers_release(struct peers *peers);

/* Waits some seconds for the hellos of all ranks, then assigns them. */
void peers_await(struct peers *peers, struct wire *wire, double now);

/*
 * Tells workers from spares: the last `spares_each` ranks of a machine are spares, but one of its ranks is
 * always a worker. Ranks that have not said hello become workers until each machine has its number of
 * workers; the rest become spares when they say hello.
 */
void peers_assign(struct peers *peers);

/* Has every rank sent its first message? */
bool peers_are_there(const struct peers *peers);

/* The rank at an address; NULL: none. */
struct peer *peers_at(const struct peers *peers, int address);

/* The rank of a worker. */
struct peer *peers_worker(const struct peers *peers, int worker);

/* Records the hello of a rank. */
void peers_hello(struct peers *peers, struct peer *peer, const struct hello *hello, double now);

/* Records that a rank has sent a message. */
void peers_hear(struct peer *peer, double now);

/* Lets a spare of the same machine that is alive take the place of a worker; its old rank is no worker any
 * more. NULL: there is none. */
struct peer *peers_replace(struct peers *peers, int worker, double now);

/*
 * Is a rank certainly dead? True if its process on this machine is gone, if it does not say hello in time, or
 * if a worker falls silent before it is ready. For other workers the coordinator has deadlines.
 */
bool peer_is_dead(const struct peer *peer, double now);

#endif
