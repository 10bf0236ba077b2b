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
enum truth { TRUTH_PENDING, TRUTH_HELD, TRUTH_DONE, TRUTH_FAILED };

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
    uint64_t completed; /* under which it was last trained to its end */
    int deaths; /* as the coordinator counts them */
    int losses; /* workers that died or hung while they trained it, or before they got it; without nodes */
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
    double latency, silence, fault; /* fault: the probability of one in each run */
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

/* Simulates a sweep of widely varying costs in which each run meets a fault with probability `fault`. */
struct simulation simulate_faulty(
    int workers, int64_t cells, int ahead, uint64_t seed, double fault, double stop_at);

#endif
