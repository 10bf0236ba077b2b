#ifndef NORMSWEEP_DRIVER_RANKS_PEERS_H
#define NORMSWEEP_DRIVER_RANKS_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/wire/message.h"

/*
 * The workers of a job as processes: where each is, how it is reached, whether it lives. Worker 0, 1, ...
 * keeps its number when another process takes a dead one's place.
 */
struct peer {
    int address; /* of its process, on the wire */
    struct process process; /* once it has said hello */
    char host[HOST_SIZE]; /* "?" before */
    struct seat seat; /* its first process's */
    int node; /* machines are numbered as they come */
    bool said_hello, ready, here; /* here: on the coordinator's machine */
    bool dead, silent; /* silent: given up, though it may only hang */
    bool quit; /* has been told to */
    double asked; /* clock: since when it is expected to say hello; then, when it was last heard of */
    uint64_t ticket; /* of its last word */
    double patience; /* as it said last */
};

struct peers {
    int count;
    struct peer *peer; /* [count] */
    int *worker; /* [addresses] of an address; -1: none any more */
    int addresses;
    int *node; /* [nodes_size] by the hash of a place: a worker on that node; -1: free */
    int nodes_size, nodes;
};

/* Worker i at address i + 1. -1: no memory. */
int peers_init(struct peers *peers, int count, double now);
void peers_release(struct peers *peers);

/* The worker at an address; -1: none. */
int peers_worker(const struct peers *peers, int address);

/* A worker has said who it is. */
void peers_hello(struct peers *peers, int worker, const struct hello *hello, double now);

/* A worker has said something. */
void peers_hear(struct peers *peers, int worker, double now);

/* The process at `address` takes the place of a dead worker. -1: no memory. */
int peers_replace(struct peers *peers, int worker, int address, double now);

/*
 * Is a worker dead beyond doubt? One on this machine whose process is gone, and any that does not say hello,
 * or falls silent before it is ready. Of others the coordinator's deadlines tell.
 */
bool peer_is_dead(const struct peer *peer, double now);

#endif
