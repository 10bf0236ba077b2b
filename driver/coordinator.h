#ifndef NORMSWEEP_DRIVER_COORDINATOR_H
#define NORMSWEEP_DRIVER_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Who trains what: a pure state machine. Events go in, orders come out; it holds no MPI, no file and no
 * clock, so that a test drives it with ten thousand simulated workers. Every call costs time that does not
 * grow with workers or runs. Runs are known by their cell and workers by their rank alone; a ticket tells one
 * handing-out of a run from another, so that a message that comes late from a worker which was given up is
 * known as such.
 */
struct coordinator;

enum event_kind {
    EVENT_HELLO, /* worker is there and idle; from a worker that was busy: it has lost what it had */
    EVENT_PROGRESS, /* worker still trains the run of `ticket` */
    EVENT_RESULT, /* worker ended the run of `ticket`: `ended` (done, diverged, failed) or handed it back
                     (stopped) */
    EVENT_LOST, /* worker is dead */
    EVENT_TICK, /* time passes: `now` alone */
    EVENT_STOP, /* save and stop */
};

struct event {
    enum event_kind kind;
    int worker;
    uint64_t ticket;
    bool ended;
    double now; /* seconds on any clock that does not go back */
};

enum order_kind {
    ORDER_RUN, /* worker: train `cell` under `ticket` after what you have */
    ORDER_STOP, /* worker: hand back the order of `ticket`, begun or not; ticket 0: everything you have */
    ORDER_QUIT, /* worker: nothing is left for you */
    ORDER_ACCEPT, /* the result just handed in is good: write it for `cell` */
    ORDER_RETURN, /* `cell` goes back to pending: its worker was lost or stopped */
    ORDER_FAIL, /* `cell` has killed its worker too often: record it as failed */
    ORDER_FINISH, /* nothing runs and nothing is left, or everything has stopped */
};

struct order {
    enum order_kind kind;
    int worker;
    int64_t cell;
    uint64_t ticket;
};

struct coordinator_options {
    double silence; /* seconds without a word after which a worker that trains is given up; INFINITY: never */
    int deaths; /* deaths of its worker after which a run fails: 3 */
    int orders_ahead; /* orders a worker holds at most beyond the one it trains */
};

/*
 * `pending` [count]: the cells to run, with `cost` [count] in any unit; longest first, ties by cell. Both are
 * copied. NULL: no memory.
 */
struct coordinator *coordinator_new(const int64_t *pending, const double *cost, int64_t count,
    int max_workers, const struct coordinator_options *options);
void coordinator_free(struct coordinator *coordinator);

/* Takes one event; its orders are then taken one by one. */
void coordinator_handle(struct coordinator *coordinator, const struct event *event);

/* The next order, or false when there is none. */
bool coordinator_next(struct coordinator *coordinator, struct order *order);

/* How things stand, for progress lines. */
struct coordinator_state {
    int64_t pending, running, ended; /* runs */
    int workers, idle; /* workers that can be reckoned with, and those of them without an order */
    double cost_left; /* of all runs that have not ended */
    int64_t waits; /* times that a worker had to wait for its next run while some were queued */
};
/* The cell of a ticket that `worker` holds, or -1 when what it sends under that ticket no longer counts. */
int64_t coordinator_cell(const struct coordinator *coordinator, int worker, uint64_t ticket);

void coordinator_state(const struct coordinator *coordinator, struct coordinator_state *state);

#endif
