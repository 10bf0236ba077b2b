/*
 * Longest runs first, each to the first free worker: list scheduling, whose makespan is close to optimal. A
 * worker also holds orders ahead, so that it need not wait for an answer between two runs; but an order ahead
 * is bound to its worker before the worker is free, which list scheduling never does. Two rules keep the
 * makespan short:
 * - a worker gets an order ahead only while everything that it then holds is a small part of its share of the
 * queue. So a few long runs are never bound; waiting between them costs little;
 * - costs are estimates and runs diverge early: once the queue is empty, an idle worker takes over an order
 * that another holds ahead. The holder is told to hand it back; if it has just begun the run, it stops, and
 * its messages under the old ticket no longer count.
 *
 * A worker that was given up keeps its tickets without their runs: its messages under them are ignored, and
 * once it has handed back all of them it is idle like any other.
 */
#include "driver/schedule/coordinator.h"

#include "driver/schedule/orders.h"
#include "driver/schedule/pool.h"
#include "driver/schedule/queue.h"
#include "driver/schedule/slots.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NOTHING = -1 };

/* The most that a worker holds, as a part of its share of the queue. With 1 the makespan of 24 runs was up to
 * 4 % longer, with wrong cost estimates 31 %; with this value it is 1 %. */
#define HELD_PART 0.25

struct coordinator {
    struct coordinator_options options;
    struct queue queue;
    int64_t left; /* runs that have neither ended nor been withdrawn */
    int64_t ended, waits; /* see struct coordinator_state */
    double cost_left; /* of the runs that are left */
    struct pool pool;
    struct slots slots;
    double now;
    bool stopping, finished;
    struct orders orders;
};

/* ---- orders ---- */

static void push_plain(struct coordinator *c, enum order_kind kind, int worker)
{
    orders_push(&c->orders, (struct order){.kind = kind, .worker = worker, .cell = NOTHING});
}

/* An order about the run of a slot; the run is not NOTHING. */
static void push_run(struct coordinator *c, enum order_kind kind, int worker, const struct slot *slot)
{
    const struct queued_run *run = &c->queue.run[slot->run];

    orders_push(&c->orders, (struct order){.kind = kind,
                                .worker = worker,
                                .cell = run->cell,
                                .ticket = slot->ticket,
                                .deaths = run->deaths});
}

/* ---- runs ---- */

/* A run that was left has ended, or is withdrawn. */
static void run_leave(struct coordinator *c, int64_t run)
{
    INVARIANT(c->left > 0, "run %" PRId64 " leaves %" PRId64, run, c->left);
    c->left--;
    c->cost_left = c->left > 0 ? c->cost_left - c->queue.run[run].cost : 0;
}

static void run_end(struct coordinator *c, int64_t run)
{
    queue_end(&c->queue, run);
    c->ended++;
    run_leave(c, run);
}

/* The run of a slot, which its worker holds, or held until just now. */
static struct queued_run *run_of(const struct coordinator *c, int worker, const struct slot *slot)
{
    struct queued_run *run = &c->queue.run[slot->run];

    INVARIANT(run->state == RUN_HELD && run->holder == worker,
        "ticket %" PRIu64 " of worker %d: run %" PRId64 " is %d, of worker %d", slot->ticket, worker,
        slot->run, run->state, run->holder);
    return run;
}

static void give(struct coordinator *c, int worker, int64_t run)
{
    struct slot slot = slots_give(&c->slots, worker, run);
    enum worker_state state = c->pool.worker[worker].state;

    INVARIANT(state == WORKER_IDLE || state == WORKER_BUSY, "worker %d in state %d", worker, state);
    INVARIANT(c->queue.run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, c->queue.run[run].state);
    c->queue.run[run].holder = worker;
    if (state == WORKER_IDLE) {
        pool_enter(&c->pool, worker, WORKER_BUSY);
        pool_grant(&c->pool, worker, c->options.silence, c->now);
    }
    push_run(c, ORDER_RUN, worker, &slot);
}

/* Takes the run of a slot away; the worker is told to hand the ticket back. */
static struct slot recall(struct coordinator *c, int worker, int at)
{
    struct slot slot = slots_void(&c->slots, worker, at);

    run_of(c, worker, &slot);
    push_run(c, ORDER_STOP, worker, &slot);
    return slot;
}

/* ---- loss of workers ---- */

/* A run loses its worker; `counts`: the loss counts as a death. */
static void run_lose(struct coordinator *c, int worker, const struct slot *slot, bool counts)
{
    struct queued_run *run = run_of(c, worker, slot);

    run->deaths += counts;
    if (counts && run->deaths >= c->options.deaths) {
        run_end(c, slot->run);
        push_run(c, ORDER_FAIL, worker, slot);
        return;
    }
    push_run(c, ORDER_RETURN, worker, slot);
    queue_return(&c->queue, slot->run);
}

/*
 * Takes all runs from a worker, the one in training last, so that it is the next one to be handed out.
 * `blame`: the run in training has killed the worker.
 */
static void take_all(struct coordinator *c, int worker, bool blame)
{
    for (int i = c->slots.used[worker] - 1; i >= 0; i--) {
        if (slots_of(&c->slots, worker)[i].run == NOTHING)
            continue;
        struct slot slot = slots_void(&c->slots, worker, i);
        run_lose(c, worker, &slot, blame && i == 0);
    }
}

static void lose(struct coordinator *c, int worker, bool blame)
{
    take_all(c, worker, blame);
    slots_clear(&c->slots, worker);
    pool_enter(&c->pool, worker, WORKER_DEAD);
}

static void give_up(struct coordinator *c, int worker)
{
    int64_t run = slots_train(&c->slots, worker) ? slots_of(&c->slots, worker)[0].run : NOTHING;
    int64_t cell = run == NOTHING ? NOTHING : c->queue.run[run].cell;

    orders_push(&c->orders, (struct order){.kind = ORDER_GIVE_UP, .worker = worker, .cell = cell});
    take_all(c, worker, pool_node_lives(&c->pool, worker));
    c->pool.worker[worker].told = false;
    pool_enter(&c->pool, worker, WORKER_GIVEN_UP);
}

/* ---- handing out ---- */

static double held_cost(const struct coordinator *c, int worker)
{
    const struct slot *slot = slots_of(&c->slots, worker);
    double cost = 0;

    for (int i = 0; i < c->slots.used[worker]; i++)
        if (slot[i].run != NOTHING)
            cost += c->queue.run[slot[i].run].cost;
    return cost;
}

/* The workers that share the queue: all that are not lost, including those that have yet to arrive. */
static int expected(const struct coordinator *c)
{
    const int *count = c->pool.count;

    return count[WORKER_ABSENT] + count[WORKER_IDLE] + count[WORKER_BUSY];
}

/* Gives orders ahead by the first rule at the top of this file. */
static void top_up(struct coordinator *c, int worker)
{
    const struct worker *w = &c->pool.worker[worker];
    const int *used = &c->slots.used[worker];

    while (w->state == WORKER_BUSY && *used < c->slots.each && c->queue.waiting > 0 && !c->stopping) {
        double cost = c->queue.run[queue_front(&c->queue)].cost;
        double share = (c->queue.cost - cost) / expected(c);
        if (held_cost(c, worker) + cost > HELD_PART * share)
            return;
        give(c, worker, queue_take(&c->queue));
    }
}

/* The second rule: an idle worker takes over the latest order ahead. */
static void take_over(struct coordinator *c, int idle)
{
    int holder = c->slots.holders.last;

    give(c, idle, recall(c, holder, slots_last(&c->slots, holder)).run);
}

static void hand_out(struct coordinator *c)
{
    while (!c->stopping && c->pool.idle.first != CHAIN_END) {
        int worker = c->pool.idle.first;
        if (c->queue.waiting > 0) {
            give(c, worker, queue_take(&c->queue));
            top_up(c, worker);
        } else if (c->slots.holders.last != CHAIN_END) {
            take_over(c, worker);
        } else {
            return;
        }
    }
}

static void finish_if_done(struct coordinator *c)
{
    const int *count = c->pool.count;
    bool done = c->stopping || c->left == 0;

    if (c->finished || !done || count[WORKER_BUSY] + count[WORKER_LEAVING] > 0)
        return;
    INVARIANT(c->slots.runs == 0, "%" PRId64 " runs are held at the end", c->slots.runs);
    c->finished = true;
    for (int i = 0; i < c->pool.size; i++)
        if (c->pool.worker[i].state != WORKER_ABSENT && c->pool.worker[i].state != WORKER_DEAD)
            push_plain(c, ORDER_QUIT, i);
    push_plain(c, ORDER_FINISH, NOBODY);
}

bool coordinator_next(struct coordinator *c, struct order *order)
{
    if (orders_take(&c->orders, order))
        return true;
    finish_if_done(c);
    return orders_take(&c->orders, order);
}

/* Every run that is left waits or is held, once. */
static void check_runs(const struct coordinator *c)
{
    INVARIANT(c->left == c->queue.waiting + c->slots.runs,
        "%" PRId64 " left, %" PRId64 " waiting, %" PRId64 " held", c->left, c->queue.waiting, c->slots.runs);
    INVARIANT(c->slots.training >= 0 && c->slots.training <= c->slots.runs,
        "%" PRId64 " of %" PRId64 " in training", c->slots.training, c->slots.runs);
}

/* ---- runs that come and go later ---- */

int64_t coordinator_add(struct coordinator *c, const int64_t *cell, const double *cost, const int *deaths,
    int64_t count, double now)
{
    int64_t added = 0, last = 0;

    if (c->stopping || c->finished)
        return 0;
    for (int64_t i = 0; i < count; i++)
        last = cell[i] > last ? cell[i] : last;
    if (queue_reserve(&c->queue, count, last) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (queue_add(&c->queue, cell[i], cost[i], deaths ? deaths[i] : 0)) {
            c->cost_left += cost[i];
            added++;
        }
    c->left += added;
    c->now = fmax(c->now, now);
    hand_out(c);
    check_runs(c);
    return added;
}

bool coordinator_withdraw(struct coordinator *c, int64_t cell)
{
    struct slot slot = {.run = queue_find(&c->queue, cell)};
    int worker = NOBODY;

    if (c->finished || slot.run == NOTHING)
        return false;
    const struct queued_run *run = &c->queue.run[slot.run];
    if (run->state == RUN_ENDED || run->state == RUN_WITHDRAWN)
        return false;
    if (run->state == RUN_HELD) {
        worker = run->holder;
        slot = recall(c, worker, slots_find_run(&c->slots, worker, slot.run));
    }
    queue_withdraw(&c->queue, slot.run);
    run_leave(c, slot.run);
    push_run(c, ORDER_WITHDRAW, worker, &slot);
    check_runs(c);
    return true;
}

/* ---- events ---- */

/* The worker's tickets are void. If it is the same process as before and still trains, it is told to stop. */
static void handle_hello(struct coordinator *c, int worker, int node, double patience)
{
    if (c->slots.used[worker] > 0)
        push_plain(c, ORDER_STOP, worker);
    lose(c, worker, false);
    c->pool.worker[worker].patience = patience;
    pool_arrive(&c->pool, worker, node, c->now);
    if (c->finished)
        push_plain(c, ORDER_QUIT, worker);
    else
        pool_enter(&c->pool, worker, WORKER_IDLE);
}

/* A message of a worker that was given up: it is idle, or is told to stop its runs. */
static void wake(struct coordinator *c, int worker)
{
    struct worker *w = &c->pool.worker[worker];

    if (w->state != WORKER_GIVEN_UP)
        return;
    if (c->slots.used[worker] == 0)
        pool_enter(&c->pool, worker, WORKER_IDLE);
    else if (!w->told)
        push_plain(c, ORDER_STOP, worker);
    w->told = true;
}

/* Accepts a patience only for the worker's current ticket; a newer order may be on its way to the worker. */
static void handle_progress(struct coordinator *c, int worker, uint64_t ticket, double patience)
{
    struct worker *w = &c->pool.worker[worker];
    uint64_t current = c->slots.used[worker] > 0 ? slots_of(&c->slots, worker)[0].ticket : 0;

    if (ticket == current)
        w->patience = patience;
    pool_hear(&c->pool, worker, c->now);
    wake(c, worker);
}

static void handle_checkpoint(struct coordinator *c, int worker, uint64_t ticket)
{
    int at = slots_find(&c->slots, worker, ticket);
    const struct slot *slot = at == NOTHING ? NULL : &slots_of(&c->slots, worker)[at];

    if (slot && slot->run != NOTHING)
        run_of(c, worker, slot)->deaths = 0;
    pool_hear(&c->pool, worker, c->now);
    wake(c, worker);
}

/* Settles the run of a slot that its worker has ended or handed back. */
static void settle_slot(struct coordinator *c, int worker, const struct slot *slot, bool ended)
{
    if (slot->run == NOTHING)
        return;
    run_of(c, worker, slot);
    if (ended) {
        run_end(c, slot->run);
        push_run(c, ORDER_ACCEPT, worker, slot);
        return;
    }
    push_run(c, ORDER_RETURN, worker, slot);
    queue_return(&c->queue, slot->run);
    if (!c->stopping && c->pool.worker[worker].state == WORKER_BUSY)
        pool_enter(&c->pool, worker, WORKER_LEAVING);
}

static void handle_result(struct coordinator *c, int worker, uint64_t ticket, bool ended)
{
    const struct worker *w = &c->pool.worker[worker];
    int at = slots_find(&c->slots, worker, ticket);

    pool_hear(&c->pool, worker, c->now);
    if (at == NOTHING) {
        wake(c, worker);
        return;
    }
    struct slot slot = slots_remove(&c->slots, worker, at);
    settle_slot(c, worker, &slot, ended);
    if (at == 0) /* the next run, if any, starts now */
        pool_grant(&c->pool, worker, c->options.silence, c->now);
    if (c->slots.used[worker] > 0) {
        top_up(c, worker);
        wake(c, worker);
    } else {
        pool_enter(&c->pool, worker, w->state == WORKER_LEAVING ? WORKER_LEFT : WORKER_IDLE);
    }
    c->waits += w->state == WORKER_IDLE && c->queue.waiting > 0;
}

static void handle_stop(struct coordinator *c)
{
    if (c->stopping)
        return;
    c->stopping = true;
    for (int i = 0; i < c->pool.size; i++)
        if (c->pool.worker[i].state == WORKER_BUSY || c->pool.worker[i].state == WORKER_LEAVING)
            push_plain(c, ORDER_STOP, i);
}

static void handle_tick(struct coordinator *c)
{
    for (int worker; (worker = pool_silent(&c->pool, c->now)) != NOBODY;)
        give_up(c, worker);
}

/* An event of one worker. */
static void handle_worker(struct coordinator *c, const struct event *event)
{
    enum worker_state state = c->pool.worker[event->worker].state;
    double patience = event->patience > 0 ? event->patience : c->options.silence;
    bool there = state != WORKER_ABSENT && state != WORKER_DEAD;

    if (event->kind == EVENT_HELLO && event->node >= 0 && event->node < c->pool.size)
        handle_hello(c, event->worker, event->node, patience);
    else if (event->kind == EVENT_LOST)
        lose(c, event->worker, event->blame);
    else if (event->kind == EVENT_PROGRESS && there)
        handle_progress(c, event->worker, event->ticket, patience);
    else if (event->kind == EVENT_CHECKPOINT && there)
        handle_checkpoint(c, event->worker, event->ticket);
    else if (event->kind == EVENT_RESULT && there)
        handle_result(c, event->worker, event->ticket, event->ended);
}

void coordinator_handle(struct coordinator *c, const struct event *event)
{
    c->now = fmax(c->now, event->now);
    if (event->kind == EVENT_STOP)
        handle_stop(c);
    else if (event->kind == EVENT_TICK)
        handle_tick(c);
    else if (event->worker >= 0 && event->worker < c->pool.size)
        handle_worker(c, event);
    hand_out(c);
    check_runs(c);
}

int64_t coordinator_cell(const struct coordinator *c, int worker, uint64_t ticket)
{
    if (worker < 0 || worker >= c->pool.size)
        return NOTHING;
    int at = slots_find(&c->slots, worker, ticket);
    const struct slot *slot = at == NOTHING ? NULL : &slots_of(&c->slots, worker)[at];
    return slot && slot->run != NOTHING ? run_of(c, worker, slot)->cell : NOTHING;
}

void coordinator_state(const struct coordinator *c, struct coordinator_state *state)
{
    *state = (struct coordinator_state){
        .pending = c->left - c->slots.training,
        .running = c->slots.training,
        .ended = c->ended,
        .workers = c->pool.count[WORKER_IDLE] + c->pool.count[WORKER_BUSY],
        .idle = c->pool.count[WORKER_IDLE],
        .silent = c->pool.count[WORKER_GIVEN_UP],
        .cost_left = c->cost_left,
        .waits = c->waits,
    };
}

/* ---- life ---- */

struct coordinator *coordinator_new(const int64_t *pending, const double *cost, const int *deaths,
    int64_t count, int max_workers, const struct coordinator_options *options)
{
    struct coordinator *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->options = *options;
    c->now = -INFINITY;
    int failed = pool_init(&c->pool, max_workers) |
                 slots_init(&c->slots, max_workers, 1 + options->orders_ahead) |
                 queue_init(&c->queue, pending, cost, deaths, count) | orders_init(&c->orders);
    if (failed) {
        coordinator_free(c);
        return NULL;
    }
    c->left = count;
    c->cost_left = c->queue.cost;
    return c;
}

void coordinator_free(struct coordinator *c)
{
    if (!c)
        return;
    queue_release(&c->queue);
    slots_release(&c->slots);
    pool_release(&c->pool);
    orders_release(&c->orders);
    free(c);
}
