#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/schedule/schedule.h"

/*
 * Tests the coordinator with simulated workers in virtual time: as drawn from a seed, they train, save, die
 * alone or with their node, hang, wake, lie, send messages late and twice, and come back. Every order is
 * checked against the true state.
 */
enum truth {
    TRUTH_PENDING,
    TRUTH_HELD,
    TRUTH_DONE,
    TRUTH_FAILED,
    TRUTH_ABSENT, /* not added yet */
};

enum cell_kind {
    CELL_HEALTHY,
    CELL_POISON, /* a worker that trains it dies or hangs */
    CELL_STUBBORN, /* kills its worker several times, each time after a checkpoint */
};

struct cell {
    double length; /* the true duration of its training */
    enum cell_kind kind;
    enum truth truth;
    uint64_t ticket; /* of the worker that holds it */
    int deaths; /* as the coordinator counts them */
    int losses; /* workers that died or hung while they trained it, or before they got it; without nodes */
    int strays; /* those among them that died or hung before they got it */
    bool passing; /* held under a ticket that is void already, as an order has yet to tell */
};

/* How often and how badly things go wrong. Probabilities are of each occasion. */
struct hazards {
    double fault; /* probability of a fault in each run */
    double idle; /* probability of a fault of a worker that begins to wait */
    double late, delay; /* probability that a message is late; by how many seconds at most */
    double twice, stale; /* probability that a message comes again, soon or when everything has changed */
    double unnoticed, early; /* probability that a death is not reported, or before its cause is known */
    double gone; /* probability that a dead worker does not come back */
    double absence; /* seconds until it comes back, at most */
    double moves; /* probability that it comes back on another node */
    double hang; /* how long a worker hangs at most, in its patience */
    double gap; /* seconds between falls of nodes, on average */
    int burst; /* nodes that fall at once, at most */
    double poison, stubborn; /* parts of the cells */
    double bad; /* part of the nodes on which every run kills its worker */
};

/* Who owns the sweep, and changes it while it runs. */
struct owner {
    double absent; /* the part of the cells that is not there at first */
    double adds; /* probability on each order that concerns a run */
    double gap; /* seconds between its other decisions, on average; 0: there are none */
    int batch; /* cells that it adds at once, at most */
    int64_t most; /* cells that it may still add */
    /* What has come of it: */
    int64_t added;
    int64_t continued, after_failure; /* added when nothing else was left, and those of them in response to a
                                         run that had killed its workers */
    int64_t refused; /* additions without effect */
};

/* ---- the workers, and what is planned ---- */

enum { HOLD_MAX = 16, LIE_MAX = 3, NODE_SIZE = 4, KILLS_OF_STUBBORN = 5 };

/* What happens at a moment of virtual time. */
enum happening_kind {
    MESSAGE, /* to the coordinator */
    ORDER, /* to a worker */
    DONE, /* a worker ends its run */
    BEAT, /* a worker sends a sign of life */
    SAVE, /* a worker makes a checkpoint */
    FATE, /* the fate of the run that a worker has begun, or of an idle worker */
    WAKE,
    RESPAWN,
    NODE_FALLS, /* some nodes, with all their workers */
    DECISION, /* of the owner */
};

struct happening {
    double time;
    uint64_t sequence; /* breaks ties: the order of planning */
    enum happening_kind kind;
    int worker;
    uint64_t serial; /* when it was planned: DONE, BEAT, SAVE, FATE: of the worker's activity; ORDER, WAKE,
                        RESPAWN: of the worker's life; MESSAGE: of its node's life */
    bool lost; /* ORDER: its worker was dead when it was sent */
    union {
        struct event event;
        struct order order;
    } as;
};

struct simulated {
    struct order held[HOLD_MAX]; /* held[0] is trained */
    int used;
    bool alive;
    int node;
    uint64_t life; /* counts its births and deaths */
    uint64_t serial; /* counts its activities; plans for older ones are void */
    double patience; /* the one that it announces */
    double wakes; /* asleep until then; 0: awake */
    double arrives; /* when its last message arrives; messages do not overtake each other */
    uint64_t heard_of[LIE_MAX]; /* old tickets to lie about */
    /* What the coordinator must know of it: */
    int holds; /* valid tickets */
    bool given_up; /* and silent since then */
    double known; /* when its last message arrived, or it got its first order */
};

struct simulation {
    struct coordinator *coordinator;
    struct simulated *worker; /* [workers] */
    int workers, ahead;
    uint64_t *node_deaths; /* [nodes] */
    int nodes;
    struct cell *cell; /* [cells] */
    int64_t cells;
    bool *completed; /* [tickets] by ticket: its worker has trained the run to its end */
    uint64_t tickets;
    int deaths; /* after which a run fails */
    double latency, silence;
    struct hazards hazards; /* none while hazards.fault is 0 */
    struct owner owner;
    uint64_t seed, draws, sequence, events;
    struct happening *heap;
    size_t planned, room;
    double now, stop_at, last_accept;
    bool finished, stopped;
    bool home; /* the workers were told to quit */
    int64_t passing; /* of all cells; 0 once all orders have been taken */
    struct event event; /* the one that the coordinator handles */
    int64_t done, failed, returned;
    int64_t unlucky; /* failed cells that are not poison */
    int64_t blamed; /* deaths that counted */
    int64_t silent; /* given up */
    int64_t told; /* workers told to hand back all runs: they were given up and woke, or said hello again */
    int64_t fallen, shut, opened; /* nodes */
    int64_t most_orders; /* on one event */
    double handling; /* seconds of real time inside the coordinator */
};

/*
 * Sets up workers that say hello at 0, and cells 0 .. cells - 1 with their estimated costs and true lengths,
 * both [cells]; keeps the fields of *s that were set before.
 */
void simulation_init(
    struct simulation *s, int workers, int64_t cells, int ahead, const double *cost, const double *length);

/* Runs until the coordinator has finished, or should have finished long ago. */
void simulate(struct simulation *s);
void simulation_release(struct simulation *s);

/* The usual hazards of a simulation with these nodes and this silence. */
struct hazards usual_hazards(double fault, double silence, int nodes);

/* Widely varying costs, a factor of about 50 between the shortest and the longest run; for the caller to
 * free. */
double *simulation_costs(uint64_t seed, int64_t count);

/* Checks that everything came to its end, at the end of a simulation. */
void simulation_check(const struct simulation *s);

/* One line of what happened. */
void simulation_report(const struct simulation *s);

/* ---- of the simulation itself ---- */

/* The next random number, uniform on [0, 1). */
double simulated_draw(struct simulation *s);

/* Handles the next happening; there is one. */
struct happening simulated_next(struct simulation *s);

/* The worker is born, idle. */
void simulated_arrive(struct simulation *s, int worker);

/* Sends an order to its worker. */
void simulated_send(struct simulation *s, const struct order *order);

/* Plans a happening that comes again and again, so many seconds apart on average. */
void simulated_plan(struct simulation *s, double gap, enum happening_kind kind);

/* Handles a happening that is neither a message nor a decision. */
void simulated_happens(struct simulation *s, const struct happening *it);

/* The owner decides something by itself, or in response to an order, while others have yet to be taken. */
void owner_decides(struct simulation *s);
void owner_responds(struct simulation *s, const struct order *order);

#endif
