#ifndef NORMSWEEP_DRIVER_SCHEDULE_ASSIGNMENT_H
#define NORMSWEEP_DRIVER_SCHEDULE_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/schedule/orders.h"
#include "driver/schedule/pool.h"
#include "driver/schedule/queue.h"
#include "driver/schedule/slots.h"

/*
 * Which worker has which run, for the coordinator: gives runs to workers and takes them back, and says so in
 * orders. Every run waits in the queue, is held by one worker under a ticket, or has ended.
 */
struct assignment {
    struct coordinator_options options;
    struct queue queue;
    int64_t left; /* runs that have not ended */
    int64_t ended;
    double cost_left; /* of the runs that are left */
    struct pool pool;
    struct slots slots;
    double now; /* seconds: the time of the event that is handled */
    bool stopping; /* no run is given any more */
    struct orders orders;
};

enum { NOTHING = -1 }; /* no run, cell or slot */

/* The arguments are those of coordinator_new. -1: no memory; assignment_release is still allowed. */
int assignment_init(struct assignment *assignment, const int64_t *pending, const double *cost,
    const int *deaths, int64_t count, int max_workers, const struct coordinator_options *options);
void assignment_release(struct assignment *assignment);

/* Appends an order to a worker, or to the caller (NOBODY); or about the run of a slot, which is not NOTHING.
 */
void assignment_order(struct assignment *assignment, enum order_kind kind, int worker);
void assignment_order_run(
    struct assignment *assignment, enum order_kind kind, int worker, const struct slot *slot);

/* The run of a slot, which the worker holds, or held until just now. */
struct queued_run *assignment_run(const struct assignment *assignment, int worker, const struct slot *slot);

/* The worker's slot under a ticket, if it still has a run; else NULL. */
const struct slot *assignment_slot(const struct assignment *assignment, int worker, uint64_t ticket);

/* Adds a run, for which the queue has room; false if it is there already. */
bool assignment_add(struct assignment *assignment, int64_t cell, double cost, int deaths);

/* A held run has ended. */
void assignment_end(struct assignment *assignment, int64_t run);

/* The worker is dead: its runs wait again, or fail. `blame`: the run in training has killed it. */
void assignment_lose(struct assignment *assignment, int worker, bool blame);

/* The worker was silent for too long: the same, but it keeps its tickets, without their runs. */
void assignment_give_up(struct assignment *assignment, int worker);

/* Gives a busy worker orders ahead. */
void assignment_top_up(struct assignment *assignment, int worker);

/* Gives runs to idle workers, from the queue or from what others hold ahead. */
void assignment_hand_out(struct assignment *assignment);

/* Asserts that every run that is left waits or is held, once. */
void assignment_check(const struct assignment *assignment);

#endif
