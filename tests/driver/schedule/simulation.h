#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/schedule/coordinator.h"

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

struct happening;
struct simulated;

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
    int64_t fallen; /* nodes */
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

#endif
