#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_TRIAL_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_TRIAL_H

#include "driver/schedule/coordinator.h"

/* A coordinator step by step, and the orders that the last event brought; to be released with
 * coordinator_free. */
enum { TRIAL_WORKERS = 4, TRIAL_RUNS = 4, TRIAL_ORDERS = 64 };

struct trial {
    struct coordinator *c;
    struct order order[TRIAL_ORDERS];
    int count;
    double now;
};

/* At most TRIAL_RUNS runs: cells 10, 11 and so on, each shorter than the one before. `deaths` may be NULL. */
struct trial trial_begin(int runs, int ahead, double silence, const int *deaths);

/* Twelve equal runs, cells 0 .. 11, and one worker, which gets the first two: one is ahead. */
struct trial trial_begin_ahead(double silence);

/* Each takes one event, at t->now. */
void trial_event(struct trial *t, struct event event);
void trial_progress(struct trial *t, int worker, uint64_t ticket, double patience);
void trial_checkpoint(struct trial *t, int worker, uint64_t ticket);
void trial_result(struct trial *t, int worker, uint64_t ticket, bool ended);
void trial_lost(struct trial *t, int worker, bool blame);

/* The first ticket that is given, or 0. */
uint64_t trial_hello(struct trial *t, int worker, int node, double patience);

/* Who is given up first at a time, or -1. */
int trial_tick(struct trial *t, double now);

/* The first order of a kind; to worker -1: there is none. */
struct order trial_got(const struct trial *t, enum order_kind kind);
bool trial_has(const struct trial *t, enum order_kind kind);

struct coordinator_state trial_state(const struct trial *t);

#endif
