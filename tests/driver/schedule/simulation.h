#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/schedule/coordinator.h"

/*
 * The coordinator against simulated workers in virtual time: they train, save, die alone or with their node,
 * hang, wake, lie, say things late and twice, and come back, as drawn from a seed; every order is checked
 * against the truth.
 */
enum truth { TRUTH_PENDING, TRUTH_HELD, TRUTH_DONE, TRUTH_FAILED };

enum cell_kind {
    CELL_HEALTHY,
    CELL_POISON, /* whoever trains it dies or hangs */
    CELL_STUBBORN, /* kills its worker some times, each time after a checkpoint */
};

struct cell {
    double length; /* how long it really trains */
    enum cell_kind kind;
    enum truth truth;
    uint64_t ticket; /* under which it is held */
    uint64_t completed; /* under which it was truly trained to its end last */
    int deaths; /* as the coordinator counts them */
    int losses; /* workers that died of it or hung, or had when it was given to them; those of nodes left out
                 */
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
    double latency, silence, fault; /* fault: the chance of each run to meet one */
    uint64_t seed, draws, sequence, events;
    struct happening *heap;
    size_t planned, room;
    double now, stop_at, last_accept;
    bool finished, stopped;
    struct event event; /* the one that the coordinator handles */
    int64_t done, failed, returned;
    int64_t poison; /* cells */
    int64_t unlucky; /* failed cells that are not poison */
    int64_t blamed; /* deaths that counted */
    int64_t silent; /* given up */
    int64_t
        told; /* workers told to hand back all they have: they were given up and woke, or said hello again */
    int64_t fallen; /* nodes */
    int64_t most_orders; /* on one event */
    double handling; /* seconds of real time inside the coordinator */
};

/*
 * Sets up workers that say hello at 0 and cells 0 .. cells - 1 with what they are said to cost and how long
 * they really train, both [cells]; what is set in *s before is kept.
 */
void simulation_init(
    struct simulation *s, int workers, int64_t cells, int ahead, const double *cost, const double *length);

/* Until the coordinator has finished, or it should have long ago. */
void simulate(struct simulation *s);
void simulation_release(struct simulation *s);

/* Simulates a sweep of broadly spread costs in which a run meets a fault with the chance `fault`. */
struct simulation simulate_faulty(
    int workers, int64_t cells, int ahead, uint64_t seed, double fault, double stop_at);

#endif
