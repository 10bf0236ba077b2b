/*
 * What each event means for the runs of its worker; assignment.c has the rules by which runs are given to
 * workers.
 *
 * A worker that was given up keeps its tickets without their runs: its messages under them are ignored, and
 * once it has handed back all of them it is idle like any other.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct coordinator {
    struct assignment assignment;
    int64_t waits; /* see struct coordinator_state */
    bool finished; /* ORDER_FINISH was given */
};

/* ---- life ---- */

struct coordinator *coordinator_new(
    struct pending_runs pending, int64_t most, int max_workers, const struct coordinator_options *options)
{
    struct coordinator *c = calloc(1, sizeof(*c));

    if (!c || assignment_init(&c->assignment, pending, most, max_workers, options) == 0)
        return c;
    coordinator_free(c);
    return NULL;
}

void coordinator_free(struct coordinator *c)
{
    if (!c)
        return;
    assignment_release(&c->assignment);
    free(c);
}

/* ---- the end ---- */

static void finish_if_done(struct coordinator *c)
{
    struct assignment *a = &c->assignment;
    const int *count = a->pool.count;
    bool done = a->stopping || a->left == 0;

    if (c->finished || !done || count[WORKER_BUSY] + count[WORKER_LEAVING] > 0)
        return;
    INVARIANT(a->slots.runs == 0, "%" PRId64 " runs are held at the end", a->slots.runs);
    c->finished = true;
    for (int i = 0; i < a->pool.size; i++)
        if (a->pool.worker[i].state != WORKER_ABSENT && a->pool.worker[i].state != WORKER_DEAD)
            assignment_order(a, ORDER_QUIT, i);
    assignment_order(a, ORDER_FINISH, NOBODY);
}

bool coordinator_next(struct coordinator *c, struct order *order)
{
    if (orders_take(&c->assignment.orders, order))
        return true;
    finish_if_done(c);
    return orders_take(&c->assignment.orders, order);
}

/* ---- runs that come later ---- */

int64_t coordinator_add(struct coordinator *c, const struct pending_run *run, int64_t count, double now)
{
    struct assignment *a = &c->assignment;
    int64_t added = 0, last = 0;

    if (a->stopping || c->finished)
        return 0;
    for (int64_t i = 0; i < count; i++)
        last = run[i].cell > last ? run[i].cell : last;
    if (queue_reserve(&a->queue, count, last) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        added += assignment_add(a, &run[i]);
    a->now = fmax(a->now, now);
    assignment_hand_out(a);
    assignment_check(a);
    return added;
}

/* ---- events ---- */

/* The worker's tickets are void. If it is the same process as before and still trains, it is told to stop. */
static void handle_hello(struct coordinator *c, int worker, int node, double patience)
{
    struct assignment *a = &c->assignment;

    if (a->slots.used[worker] > 0)
        assignment_order(a, ORDER_STOP, worker);
    assignment_lose(a, worker, false);
    a->pool.worker[worker].patience = patience;
    pool_arrive(&a->pool, worker, node, a->now);
    if (c->finished)
        assignment_order(a, ORDER_QUIT, worker);
    else
        pool_rest(&a->pool, worker);
}

/* A message of a worker that was given up: it is idle, or is told to stop its runs. */
static void wake(struct assignment *a, int worker)
{
    struct worker *w = &a->pool.worker[worker];

    if (w->state != WORKER_GIVEN_UP)
        return;
    if (a->slots.used[worker] == 0)
        pool_rest(&a->pool, worker);
    else if (!w->told)
        assignment_order(a, ORDER_STOP, worker);
    w->told = true;
}

/* The worker has ended the run of a ticket, or handed it back. The run may have been taken from it. */
static void handle_result(struct coordinator *c, int worker, uint64_t ticket, bool ended)
{
    struct assignment *a = &c->assignment;
    const struct worker *w = &a->pool.worker[worker];
    int at = slots_find(&a->slots, worker, ticket);

    pool_hear(&a->pool, worker, a->now);
    if (at == NOTHING) {
        wake(a, worker);
        return;
    }
    struct slot slot = slots_remove(&a->slots, worker, at);
    if (slot.run != NOTHING) {
        assignment_run(a, worker, &slot);
        if (ended) {
            assignment_end(a, slot.run);
            assignment_order_run(a, ORDER_ACCEPT, worker, &slot);
            if (pool_prove(&a->pool, worker))
                assignment_order(a, ORDER_OPEN, worker);
        } else {
            assignment_order_run(a, ORDER_RETURN, worker, &slot);
            queue_return(&a->queue, slot.run, false);
            if (!a->stopping && w->state == WORKER_BUSY)
                pool_enter(&a->pool, worker, WORKER_LEAVING);
        }
    }
    if (at == 0) /* the next run, if any, starts now */
        pool_grant(&a->pool, worker, a->options.silence, a->now);
    if (a->slots.used[worker] > 0) {
        assignment_top_up(a, worker);
        wake(a, worker);
    } else if (w->state == WORKER_LEAVING) {
        pool_enter(&a->pool, worker, WORKER_LEFT);
    } else {
        pool_rest(&a->pool, worker);
    }
    c->waits += w->state == WORKER_IDLE && a->queue.waiting > 0;
}

/* An event of one worker. */
static void handle_worker(struct coordinator *c, const struct event *event)
{
    struct assignment *a = &c->assignment;
    enum worker_state state = a->pool.worker[event->worker].state;
    double patience = event->patience > 0 ? event->patience : a->options.silence;
    bool there = state != WORKER_ABSENT && state != WORKER_DEAD;
    int worker = event->worker;

    if (event->kind == EVENT_HELLO && event->node >= 0 && event->node < a->pool.size) {
        handle_hello(c, worker, event->node, patience);
    } else if (event->kind == EVENT_LOST) {
        assignment_lose(a, worker, event->blame);
    } else if (event->kind == EVENT_PROGRESS && there) {
        /* The patience counts only for the current ticket; a newer order may be on its way to the worker. */
        uint64_t current = a->slots.used[worker] > 0 ? slots_of(&a->slots, worker)[0].ticket : 0;
        if (event->ticket == current)
            a->pool.worker[worker].patience = patience;
        pool_hear(&a->pool, worker, a->now);
        wake(a, worker);
    } else if (event->kind == EVENT_CHECKPOINT && there) {
        const struct slot *slot = assignment_slot(a, worker, event->ticket);
        if (slot)
            assignment_run(a, worker, slot)->run.deaths = 0;
        pool_hear(&a->pool, worker, a->now);
        wake(a, worker);
    } else if (event->kind == EVENT_RESULT && there) {
        handle_result(c, worker, event->ticket, event->ended);
    }
}

void coordinator_handle(struct coordinator *c, const struct event *event)
{
    struct assignment *a = &c->assignment;

    a->now = fmax(a->now, event->now);
    if (event->kind == EVENT_STOP && !a->stopping) {
        a->stopping = true;
        for (int i = 0; i < a->pool.size; i++)
            if (a->pool.worker[i].state == WORKER_BUSY || a->pool.worker[i].state == WORKER_LEAVING)
                assignment_order(a, ORDER_STOP, i);
    } else if (event->kind == EVENT_TICK) {
        for (int i = 0; i < a->pool.size; i++)
            if (pool_is_silent(&a->pool, i, a->now))
                assignment_give_up(a, i);
    } else if (event->kind != EVENT_STOP && event->worker >= 0 && event->worker < a->pool.size) {
        handle_worker(c, event);
    }
    assignment_hand_out(a);
    assignment_check(a);
}

/* ---- questions ---- */

int64_t coordinator_cell(const struct coordinator *c, int worker, uint64_t ticket)
{
    const struct assignment *a = &c->assignment;
    const struct slot *slot =
        worker >= 0 && worker < a->pool.size ? assignment_slot(a, worker, ticket) : NULL;

    return slot ? assignment_run(a, worker, slot)->run.cell : NOTHING;
}

void coordinator_state(const struct coordinator *c, struct coordinator_state *state)
{
    const struct assignment *a = &c->assignment;

    *state = (struct coordinator_state){
        .pending = a->left - a->slots.training,
        .running = a->slots.training,
        .ended = a->ended,
        .workers = a->pool.count[WORKER_IDLE] + a->pool.count[WORKER_BUSY],
        .idle = a->pool.count[WORKER_IDLE],
        .silent = a->pool.count[WORKER_GIVEN_UP],
        .cost_left = a->cost_left,
        .waits = c->waits,
    };
}
