#ifndef NORMSWEEP_DRIVER_SCHEDULE_SCHEDULE_H
#define NORMSWEEP_DRIVER_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Assigns runs to workers: a pure state machine. Events go in, orders come out; it uses no MPI, no files and
 * no clock, so that a test can drive it with ten thousand simulated workers. The time of a call does not grow
 * with the number of workers or runs, except for the logarithm of the runs that were added; a TICK, STOP and
 * the end look at every worker. All memory is allocated at creation, except for orders that are not taken and
 * runs that are added.
 *
 * Runs can be added at any time, as a search does that decides from results. Each run is trained to its end
 * once, or fails.
 *
 * A run is identified by its cell, a worker by its index. Each assignment of a run has a ticket of its own,
 * so that a late message from a worker that was given up can be recognised. Events may come late, twice, or
 * with a ticket that was never given.
 *
 * Workers die, hang and come back. The replacement of a dead worker says hello under its index. A worker that
 * is silent for longer than it has announced is given up: its runs go to others. If it wakes, it is told to
 * stop, and is idle once it has handed everything back.
 *
 * A run that kills its workers ends as failed. A death counts against the run in training if nothing else
 * explains it: the worker died but its node lives. Silence counts likewise if another worker on the node sent
 * a message at least half of the patience later, and no worker has arrived there in between (the node may
 * have been restarted). So each worker must send a message more often than twice in its patience.
 *
 * A node may be what kills the workers. One on which three different runs have lost a worker, while there
 * were workers elsewhere and no run has ended there, is shut: it gets no more runs, and these deaths do not
 * count. It is opened, for good, when a worker there finishes its run after all, or no worker is left
 * elsewhere. Until a node has finished a run it gets runs that have lost a worker only if there are no
 * others.
 */
struct coordinator;

enum event_kind {
    EVENT_HELLO, /* worker is idle on `node`; its runs, or those of its predecessor, are lost, which is not
                    counted as a death */
    EVENT_PROGRESS, /* worker still trains the run of `ticket`; 0: it is alive and has no run */
    EVENT_CHECKPOINT, /* worker has saved the run of `ticket`: the run's deaths so far no longer count */
    EVENT_RESULT, /* worker ended the run of `ticket`: `ended` (done, diverged, failed) or handed it back
                     (stopped) */
    EVENT_LOST, /* worker is dead; its messages that arrive later are ignored */
    EVENT_TICK, /* time passes: silent workers are given up. Handle all waiting events first, which may be
                   messages of these workers */
    EVENT_STOP, /* save and stop */
};

struct event {
    enum event_kind kind;
    int worker;
    uint64_t ticket;
    bool ended;
    bool blame; /* LOST: its node lives, so the death counts against the run in training */
    int node; /* HELLO: its machine, 0 .. max_workers - 1 */
    double patience; /* HELLO, PROGRESS: seconds for which it may now be silent; 0: options.silence */
    double now; /* seconds on any monotonic clock */
};

enum order_kind {
    ORDER_RUN, /* to worker: train `cell` under `ticket`, after your other runs */
    ORDER_STOP, /* to worker: hand back the run of `ticket`, begun or not; ticket 0: all your runs */
    ORDER_QUIT, /* to worker: there is no more work for you */
    ORDER_GIVE_UP, /* a notice: worker, which trained `cell` (-1: none), was silent for too long; RETURN or
                      FAIL of its runs follow */
    ORDER_PARDON, /* a notice: so many `deaths` still count against `cell`, as its node is being shut */
    ORDER_SHUT, /* a notice: the node of worker gets no more runs, see above */
    ORDER_OPEN, /* a notice: the node of worker gets runs again */
    ORDER_ACCEPT, /* the result of the event is valid: write it for `cell` */
    ORDER_RETURN, /* `cell` is pending again: its worker was lost or stopped */
    ORDER_FAIL, /* `cell` has killed its workers too often: record it as failed */
    ORDER_FINISH, /* all runs have ended, or everything has stopped */
};

struct order {
    enum order_kind kind;
    int worker;
    int64_t cell;
    uint64_t ticket;
    int deaths; /* counted against the run since its last checkpoint, including this one */
};

struct coordinator_options {
    double silence; /* seconds: the patience after a new order, until the worker announces its own; INFINITY:
                       for ever */
    int deaths; /* a run fails after so many deaths of its workers: 3 */
    int orders_ahead; /* the most orders that a worker holds besides the one it trains */
};

/* A run that is to be trained. */
struct pending_run {
    float cost; /* an estimate, in any unit; finite, from 0 */
    int cell; /* from 0; each once */
    int turn; /* among runs of the same class of cost: the lower, the earlier */
    int deaths; /* already counted against it */
};

/* Gives one run after the other; false: that was all. */
struct pending_runs {
    bool (*next)(void *context, struct pending_run *run);
    void *context;
};

/*
 * The order in which runs are handed out: those of a higher class of cost first, whose costs are between a
 * power of two and the next one; within a class by turn, then by cell. So the caller decides what is trained
 * early. Near the end the longest run comes first, so that no long run is the last. Runs with deaths come
 * after all others: one that kills every rank must not keep them from being trained. Returns as strcmp.
 */
int pending_run_compare(const struct pending_run *a, const struct pending_run *b);

/* Takes at most `most` runs, in any order. Returns NULL without memory. */
struct coordinator *coordinator_new(
    struct pending_runs pending, int64_t most, int max_workers, const struct coordinator_options *options);
void coordinator_free(struct coordinator *coordinator);

/* Handles one event; take the resulting orders with coordinator_next. */
void coordinator_handle(struct coordinator *coordinator, const struct event *event);

/*
 * Adds runs, to be handed out after those that were returned, in their order among the others; idle workers
 * get them at once. Cells that wait, are held or have ended are left as they are. Memory grows with the
 * largest cell. `now` is on the clock of the events; 0: the time of the last one. Returns how many runs were
 * added; 0 after EVENT_STOP and once ORDER_QUIT was taken, since the workers go home; -1: no memory, and
 * nothing is added. Take the orders afterwards.
 *
 * A sweep ends only when all orders have been taken: runs that are added in response to an ORDER_ACCEPT or
 * ORDER_FAIL, before the next call of coordinator_next, continue it, even if that was the last result.
 */
int64_t coordinator_add(
    struct coordinator *coordinator, const struct pending_run *run, int64_t count, double now);

/* Takes the next order; false if there is none. */
bool coordinator_next(struct coordinator *coordinator, struct order *order);

/* The state of the sweep, for progress lines. */
struct coordinator_state {
    int64_t pending, running, ended; /* runs */
    int workers, idle; /* workers at work or available, and the available ones among them */
    int silent; /* workers that were given up and are still silent, or still have runs to hand back */
    double cost_left; /* of all pending and running runs */
    int64_t waits; /* how often a worker had to wait for its next run although runs were queued */
};
void coordinator_state(const struct coordinator *coordinator, struct coordinator_state *state);

/* The cell of a ticket that `worker` holds; -1: messages under that ticket no longer count. */
int64_t coordinator_cell(const struct coordinator *coordinator, int worker, uint64_t ticket);

/* A doubly linked list of some of the workers 0 .. size - 1, each at most once: appends and removals are
 * O(1). */
struct chain {
    int size;
    int first, last; /* CHAIN_END: the chain is empty */
    struct chain_link *link; /* [size] */
};

/* -1: no memory; chain_release is still allowed. */
int chain_init(struct chain *chain, int size);
void chain_release(struct chain *chain);

/* The workers as the coordinator knows them: their states, last messages and nodes. */
enum worker_state {
    WORKER_ABSENT, /* has not said hello yet */
    WORKER_IDLE, /* holds no ticket */
    WORKER_BUSY, /* holds at least one ticket */
    WORKER_LEAVING, /* handed a run back unasked, so it gets no more orders; still holds tickets */
    WORKER_LEFT, /* the same without tickets: waits for ORDER_QUIT */
    WORKER_GIVEN_UP, /* silent for too long; its tickets are void */
    WORKER_DEAD, /* holds no ticket; a replacement may say hello under its index */
    WORKER_SHUT, /* holds no ticket, and its node gets no more runs */
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

enum { STRIKES = 3 };

struct pool_node {
    double heard; /* seconds: the last message of any of its workers */
    double arrived; /* seconds: the last arrival of a worker */
    int able; /* its workers that are idle or busy */
    bool proven; /* has finished a run, or was opened: it is never shut */
    bool shut; /* gets no more runs */
    int struck; /* how many different runs have lost a worker there; it counts as long as it is not proven */
    int64_t run[STRIKES]; /* [struck] these runs */
    int deaths[STRIKES]; /* [struck] of each */
};

struct pool {
    int size;
    struct worker *worker; /* [size] */
    int count[WORKER_STATES]; /* workers in each state */
    struct chain idle; /* the longest idle first */
    struct pool_node *node; /* [size] */
    int open; /* nodes with an able worker that are not shut */
};

enum queued_state {
    RUN_WAITING, /* in the queue */
    RUN_HELD, /* by a worker, or on its way there */
    RUN_ENDED, /* for good */
};

/* A run as the coordinator knows it. */
struct queued_run {
    struct pending_run run; /* with the deaths of its workers since its last checkpoint */
    union {
        int after; /* waiting and returned: the one below it on its stack; QUEUE_END: none */
        int holder; /* held: the worker; maintained by the coordinator */
    };
    unsigned char state; /* enum queued_state */
    bool returned; /* was taken before */
};

/*
 * The runs of a sweep; the index in `run` identifies a run. Runs that were handed back come first, the latest
 * of them before all. Then come the others, in the order of pending_run_compare or the longest first. All
 * operations are O(1), and for runs that are added later O(log of their number). A million runs take 32 MB,
 * so nothing is wider than it has to be.
 */
struct queue {
    int64_t count, size;
    struct queued_run *run; /* [size] the first `count` are in use */
    struct run_order {
        int *run; /* all before `next` have been taken */
        int64_t next, end;
    } given, longest; /* runs that were there from the start, in order; and the longest first, of those that
                         were left when they were first asked for so */
    int64_t returned, struck; /* stacks: runs that were handed back, and those that have lost a worker */
    int64_t added, room;
    int *heap; /* [room] the first `added` are in use: runs that were added, the longest on top */
    int64_t cells;
    int *of_cell; /* [cells] the run of a cell; QUEUE_END: none */
    int64_t waiting; /* runs in the queue */
    double cost; /* the sum of their costs */
};

/* What a queue holds for each of its runs. */
enum { QUEUED_RUN_BYTES = sizeof(struct queued_run) + 2 * sizeof(int) };

/* A ticket that a worker holds; run SLOT_NONE: taken away, but not yet handed back. */
struct slot {
    uint64_t ticket;
    int64_t run;
};

/* The tickets that workers hold, each worker's in the order of training. */
struct slots {
    int workers, each;
    struct slot *slot; /* [workers][each] */
    int *used; /* [workers] */
    struct chain holders; /* workers with a run ahead that others can take over */
    int64_t runs; /* in all slots */
    int64_t training; /* in first slots */
    uint64_t ticket; /* the last one given */
};

#endif
