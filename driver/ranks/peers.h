#ifndef NORMSWEEP_DRIVER_RANKS_PEERS_H
#define NORMSWEEP_DRIVER_RANKS_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/wire/message.h"

/*
 * The workers of a job as processes: the machine and address of each, and whether it is alive. A worker keeps
 * its number when another process replaces it.
 */
struct peer {
    int address; /* of its process, on the wire */
    struct process process; /* valid once said_hello */
    char host[HOST_SIZE]; /* "?" before said_hello */
    struct seat seat; /* of its first process */
    int node; /* number of its machine, in the order of hellos */
    bool said_hello, ready, here; /* here: on the coordinator's machine */
    bool dead, silent; /* silent: given up, although it may come back */
    bool quit; /* has been told to quit */
    double asked; /* clock of its last message, or since when its hello is expected */
    uint64_t ticket; /* of its last report */
    double patience; /* seconds that it may be silent, by its last report */
};

struct peers {
    int count;
    struct peer *peer; /* [count] */
    int *worker; /* [addresses] the worker at each address; -1: none */
    int addresses;
    int *node; /* [nodes_size] hash table by place: a worker on that machine; -1: free */
    int nodes_size, nodes;
};

/* Worker i starts at address i + 1. -1: no memory. */
int peers_init(struct peers *peers, int count, double now);
void peers_release(struct peers *peers);

/* The worker at an address; -1: none. */
int peers_worker(const struct peers *peers, int address);

/* Records the hello of a worker. */
void peers_hello(struct peers *peers, int worker, const struct hello *hello, double now);

/* Records that a worker has sent a message. */
void peers_hear(struct peers *peers, int worker, double now);

/* Replaces a dead worker's process by the one at `address`. -1: no memory. */
int peers_replace(struct peers *peers, int worker, int address, double now);

/*
 * Is a worker certainly dead? True if its process on this machine is gone, if it does not say hello in time,
 * or if it falls silent before it is ready. For other workers the coordinator has deadlines.
 */
bool peer_is_dead(const struct peer *peer, double now);

#endif
