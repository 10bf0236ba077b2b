#ifndef NORMSWEEP_DRIVER_SCHEDULE_POOL_H
#define NORMSWEEP_DRIVER_SCHEDULE_POOL_H

#include <stdbool.h>

#include "driver/schedule/chain.h"
#include "driver/schedule/deadline.h"

/* The workers as the coordinator knows them: in which state, when last heard of, on which node. */
enum worker_state {
    WORKER_ABSENT, /* has not said hello yet */
    WORKER_IDLE, /* holds no ticket */
    WORKER_BUSY, /* holds a ticket at least */
    WORKER_LEAVING, /* handed a run back unasked, so it gets nothing more; still holds tickets */
    WORKER_LEFT, /* the same without tickets: it waits for the word to quit */
    WORKER_GIVEN_UP, /* silent for too long; its tickets are void */
    WORKER_DEAD, /* holds no ticket; another may say hello in its place */
    WORKER_STATES
};

struct worker {
    enum worker_state state;
    int node;
    double heard; /* seconds: its last word */
    double since; /* the same, or the later time at which it was given something new */
    double patience; /* seconds from `since` on in which it may be silent; INFINITY: for ever */
    int used; /* tickets it holds: kept by the coordinator */
    bool told; /* given up, and told to stop since it woke: kept by the coordinator */
};

struct pool {
    int size;
    struct worker *worker; /* [size] */
    int count[WORKER_STATES]; /* workers in each state */
    struct chain idle; /* who is idle for longest comes first */
    struct deadlines deadlines; /* of the idle, the busy and the leaving */
    struct pool_node *node; /* [size] */
};

enum { NOBODY = -1 };

/* -1: no memory; it can be released all the same. */
int pool_init(struct pool *pool, int size);
void pool_release(struct pool *pool);

void pool_enter(struct pool *pool, int worker, enum worker_state state);

/* A worker comes to be on a node, below `size`, at `now`: this is its first word. */
void pool_arrive(struct pool *pool, int worker, int node, double now);

/* A word of a worker: its patience, which may have changed, counts from now on. */
void pool_hear(struct pool *pool, int worker, double now);

/* Without a word of it the worker gets the patience for something new, from `now` on. */
void pool_grant(struct pool *pool, int worker, double patience, double now);

/* A worker that has been silent past its patience at `now`, or NOBODY; each is found once. */
int pool_silent(struct pool *pool, double now);

/*
 * Whether the worker's silence is its own and not its node's: another worker there said a word when half of
 * its patience was over. When a worker has come to the node since its last word nothing is sure: the node may
 * have been started anew.
 */
bool pool_node_lives(const struct pool *pool, int worker);

#endif
