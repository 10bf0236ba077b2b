#ifndef NORMSWEEP_DRIVER_SCHEDULE_INSIDE_H
#define NORMSWEEP_DRIVER_SCHEDULE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/schedule/schedule.h"

/* A queue of orders, first in, first out. */
struct orders {
    struct order *order; /* [size] first .. end - 1 */
    size_t size, first, end;
};

/* -1: no memory; orders_release is still allowed. */
int orders_init(struct orders *orders);
void orders_release(struct orders *orders);

/* Aborts without memory: the coordinator cannot continue after a lost order. */
void orders_push(struct orders *orders, struct order order);

/* False if the queue is empty. */
bool orders_take(struct orders *orders, struct order *order);

enum { CHAIN_END = -1 };

/* No effect if the worker is already in the chain, or not in it. */
void chain_append(struct chain *chain, int worker);
void chain_remove(struct chain *chain, int worker);

/* -1: no memory; pool_release is still allowed. */
int pool_init(struct pool *pool, int size);
void pool_release(struct pool *pool);

void pool_enter(struct pool *pool, int worker, enum worker_state state);

/* The worker holds no ticket: it is idle, or shut with its node. */
void pool_rest(struct pool *pool, int worker);

struct pool_node *pool_node_of(const struct pool *pool, int worker);

/* May a run that has lost a worker be given to this one? Its node is proven, or there is no other. */
bool pool_is_trusted(const struct pool *pool, int worker);

/* Shuts the worker's node. */
void pool_shut(struct pool *pool, int worker);

/* The worker has finished a run, or there is no other: its node counts as proven. Returns whether it was
 * shut, which it will not be again. */
bool pool_prove(struct pool *pool, int worker);

/* A worker's first message, from node `node`, below `size`, at `now`. */
void pool_arrive(struct pool *pool, int worker, int node, double now);

/* A message of a worker: its patience, which the caller may have changed, counts from now on. */
void pool_hear(struct pool *pool, int worker, double now);

/* Restarts the worker's patience for a new order; not a sign of life. */
void pool_grant(struct pool *pool, int worker, double patience, double now);

/* Has the worker's silence exceeded its patience at `now`? Only if it matters: the worker has a run, or could
 * get one. */
bool pool_is_silent(const struct pool *pool, int worker, double now);

/*
 * Is a silent worker's node alive? True if another worker there sent a message after half of the silent
 * worker's patience was over. False if a worker has arrived on the node since the silent worker's last
 * message, since the node may have been restarted.
 */
bool pool_node_lives(const struct pool *pool, int worker);

enum { QUEUE_END = -1 };

/* Takes at most `most` runs. -1: no memory; queue_release is still allowed. */
int queue_init(struct queue *queue, struct pending_runs pending, int64_t most);
void queue_release(struct queue *queue);

/* Makes room for `count` more runs with cells up to `last`. -1: no memory; the queue is as before. */
int queue_reserve(struct queue *queue, int64_t count, int64_t last);

/* Adds a run, for which there is room; false if there is a run of that cell. */
bool queue_add(struct queue *queue, const struct pending_run *run);

/* Which run a worker gets. */
struct pick {
    bool longest; /* the longest one among those that have never been taken */
    bool struck; /* those that have lost a worker first; false: only if there are no others */
};

/* Both return the next run of a queue that is not empty; queue_take also removes it: it is held. */
int64_t queue_front(struct queue *queue, struct pick pick);
int64_t queue_take(struct queue *queue, struct pick pick);

/* A held run waits again. `struck`: it has lost its worker. */
void queue_return(struct queue *queue, int64_t run, bool struck);

/* A held run has ended. */
void queue_end(struct queue *queue, int64_t run);

enum { SLOT_NONE = -1 };

/* -1: no memory; slots_release is still allowed. */
int slots_init(struct slots *slots, int workers, int each);
void slots_release(struct slots *slots);

/* The first slot of a worker. */
struct slot *slots_of(const struct slots *slots, int worker);

/* The index of a worker's slot with this ticket; SLOT_NONE: it has none. */
int slots_find(const struct slots *slots, int worker, uint64_t ticket);

/* The last slot of a worker that holds a run ahead. */
int slots_last(const struct slots *slots, int worker);

/* Is there a run in the worker's first slot? */
bool slots_train(const struct slots *slots, int worker);

/* Gives a worker a run, under a new ticket. The worker has a free slot. */
struct slot slots_give(struct slots *slots, int worker, int64_t run);

/* Takes the run of a slot away; the ticket stays. Returns the slot as it was. */
struct slot slots_void(struct slots *slots, int worker, int at);

/* Removes a slot, whose ticket was handed back, or all slots, which hold no runs. */
struct slot slots_remove(struct slots *slots, int worker, int at);
void slots_clear(struct slots *slots, int worker);

#endif
