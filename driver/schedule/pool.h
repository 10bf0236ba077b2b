#ifndef NORMSWEEP_DRIVER_SCHEDULE_POOL_H
#define NORMSWEEP_DRIVER_SCHEDULE_POOL_H

#include <stdbool.h>

#include "driver/schedule/chain.h"
#include "driver/schedule/deadline.h"

/* The workers as the coordinator knows them: their states, last messages and nodes. */
enum worker_state {
    WORKER_ABSENT, /* has not said hello yet */
    WORKER_IDLE, /* holds no ticket */
    WORKER_BUSY, /* holds at least one ticket */
    WORKER_LEAVING, /* handed a run back unasked, so it gets no more orders; still holds tickets */
    WORKER_LEFT, /* the same without tickets: waits for ORDER_QUIT */
    WORKER_GIVEN_UP, /* silent for too long; its tickets are void */
    WORKER_DEAD, /* holds no ticket; a replacement may say hello under its index */
    WORKER_STATES
};

struct worker {
    enum worker_state state;
    int node;
    double heard; /* seconds: its last message */
    double since; /* seconds: start of its patience; `heard`, or the later time of a new order */
    double patience; /* seconds after `since` for which it may be silent; INFINITY: for ever */
    bool told; /* given up, and told to stop since it woke; maintained by the coordinator */
};

struct pool {
    int size;
    struct worker *worker; /* [size] */
    int count[WORKER_STATES]; /* workers in each state */
    struct chain idle; /* the longest idle first */
    struct deadlines deadlines; /* of idle, busy and leaving workers */
    struct pool_node *node; /* [size] */
};

enum { NOBODY = -1 };

/* -1: no memory; pool_release is still allowed. */
int pool_init(struct pool *pool, int size);
void pool_release(struct pool *pool);

void pool_enter(struct pool *pool, int worker, enum worker_state state);

/* A worker's first message, from node `node`, below `size`, at `now`. */
void pool_arrive(struct pool *pool, int worker, int node, double now);

/* A message of a worker: its patience, which the caller may have changed, counts from now on. */
void pool_hear(struct pool *pool, int worker, double now);

/* Restarts the worker's patience for a new order; not a sign of life. */
void pool_grant(struct pool *pool, int worker, double patience, double now);

/* A worker whose silence has exceeded its patience at `now`, or NOBODY; returns each worker once. */
int pool_silent(struct pool *pool, double now);

/*
 * Is a silent worker's node alive? True if another worker there sent a message after half of the silent
 * worker's patience was over. False if a worker has arrived on the node since the silent worker's last
 * message, since the node may have been restarted.
 */
bool pool_node_lives(const struct pool *pool, int worker);

#endif
