#ifndef NORMSWEEP_DRIVER_SCHEDULE_COORDINATOR_H
#define NORMSWEEP_DRIVER_SCHEDULE_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Who trains what: a pure state machine. Events go in, orders come out; it holds no MPI, no file and no
 * clock, so that a test drives it with ten thousand simulated workers. Every call costs time that does not
 * grow with workers or runs, but for the logarithm of the workers that a deadline takes (STOP and the end of
 * all speak to every worker, once). Memory is had at creation; only orders that nobody takes need more.
 *
 * Runs are known by their cell and workers by their index alone; a ticket tells one handing-out of a run from
 * another, so that a message that comes late from a worker which was given up is known as such. Events may
 * come late, twice, or name what was never given.
 *
 * Workers die, hang and come back. Who takes the place of a dead one says hello under its index. A worker
 * that is silent for longer than it said it might be is given up: its runs go to others. Should it wake, it
 * is told to stop, and is idle once it has handed all back.
 *
 * A run whose workers die of it ends as failed. A death counts against the run that was being trained when it
 * is known to be no one else's: the worker died though its node lives. So does silence, when another worker
 * of the node said a word at least half of the patience later, and none has come to the node in between (it
 * may have been started anew). Each worker is therefore to say a word more often than twice in its patience.
 */
struct coordinator;

enum event_kind {
    EVENT_HELLO, /* worker is there and idle, on `node`; whatever it had, or another before it, is lost: no
                    death */
    EVENT_PROGRESS, /* worker still trains the run of `ticket`; 0: it lives and has nothing */
    EVENT_CHECKPOINT, /* worker has saved the run of `ticket`: its deaths until now are forgotten */
    EVENT_RESULT, /* worker ended the run of `ticket`: `ended` (done, diverged, failed) or handed it back
                     (stopped) */
    EVENT_LOST, /* worker is dead; what it said before and comes later no longer counts */
    EVENT_TICK, /* time passes: the silent are given up. After all events that are there, lest a word that
                   has come be overlooked */
    EVENT_STOP, /* save and stop */
};

struct event {
    enum event_kind kind;
    int worker;
    uint64_t ticket;
    bool ended;
    bool blame; /* LOST: it died though its node lives, so that its death counts against the run it trained */
    int node; /* HELLO: which machine it is on, 0 .. max_workers - 1 */
    double patience; /* HELLO, PROGRESS: seconds from now on for which it may be silent; 0: options.silence */
    double now; /* seconds on any clock that does not go back */
};

enum order_kind {
    ORDER_RUN, /* worker: train `cell` under `ticket` after what you have */
    ORDER_STOP, /* worker: hand back the order of `ticket`, begun or not; ticket 0: everything you have */
    ORDER_QUIT, /* worker: nothing is left for you */
    ORDER_GIVE_UP, /* to be known: worker, which trained `cell` (-1: nothing), has been silent for too long;
                      what becomes of its runs follows */
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
    int deaths; /* that count against the run since its last checkpoint, this one included */
};

struct coordinator_options {
    double silence; /* patience, in seconds, with a worker that has something new to do, until it says its
                       own; INFINITY: never given up */
    int deaths; /* deaths of its worker after which a run fails: 3 */
    int orders_ahead; /* orders a worker holds at most beyond the one it trains */
};

/*
 * `pending` [count]: the cells to run, with `cost` [count] in any unit; longest first, ties by cell. `deaths`
 * [count]: those that count against each run before now; NULL: none. All are copied. NULL: no memory.
 */
struct coordinator *coordinator_new(const int64_t *pending, const double *cost, const int *deaths,
    int64_t count, int max_workers, const struct coordinator_options *options);
void coordinator_free(struct coordinator *coordinator);

/* Takes one event; its orders are then taken one by one. */
void coordinator_handle(struct coordinator *coordinator, const struct event *event);

/* The next order, or false when there is none. */
bool coordinator_next(struct coordinator *coordinator, struct order *order);

/* How things stand, for progress lines. */
struct coordinator_state {
    int64_t pending, running, ended; /* runs */
    int workers, idle; /* workers that can be reckoned with, and those of them without an order */
    int silent; /* workers that were given up and have not been heard of since, or still have to hand back */
    double cost_left; /* of all runs that have not ended */
    int64_t waits; /* times that a worker had to wait for its next run while some were queued */
};
/* The cell of a ticket that `worker` holds, or -1 when what it sends under that ticket no longer counts. */
int64_t coordinator_cell(const struct coordinator *coordinator, int worker, uint64_t ticket);

void coordinator_state(const struct coordinator *coordinator, struct coordinator_state *state);

#endif
