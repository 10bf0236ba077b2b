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

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING = -1 };

/* The most that a worker holds, as a part of its share of the queue. With 1 the makespan of 24 runs was up to
 * 4 % longer, with wrong cost estimates 31 %; with this value it is 1 %. */
#define HELD_PART 0.25

/* A ticket that a worker holds; run NOTHING: taken away, but not yet handed back. */
struct slot {
    uint64_t ticket;
    int64_t run;
};

struct coordinator {
    struct coordinator_options options;
    struct queue queue;
    int64_t ended, running, waits; /* see struct coordinator_state */
    double cost_left; /* of all runs that have not ended */
    struct pool pool;
    struct slot *slot; /* [pool.size][slots] in the order of training */
    int slots;
    struct chain holders; /* workers with an order ahead that others can take over */
    uint64_t ticket; /* the last one given */
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

bool coordinator_next(struct coordinator *c, struct order *order)
{
    return orders_take(&c->orders, order);
}

/* ---- slots ---- */

static void run_end(struct coordinator *c, int64_t run)
{
    c->ended++;
    c->cost_left = c->ended < c->queue.count ? c->cost_left - c->queue.run[run].cost : 0;
}

static struct slot *slots_of(const struct coordinator *c, int worker)
{
    return &c->slot[(size_t)worker * (size_t)c->slots];
}

static int slot_find(const struct coordinator *c, int worker, uint64_t ticket)
{
    const struct slot *slot = slots_of(c, worker);

    for (int i = 0; i < c->pool.worker[worker].used; i++)
        if (slot[i].ticket == ticket)
            return i;
    return NOTHING;
}

/* Keeps the worker in the chain of holders exactly while another can take over one of its orders ahead. */
static void note_holder(struct coordinator *c, int worker)
{
    const struct slot *slot = slots_of(c, worker);
    bool holds = false;

    for (int i = 1; i < c->pool.worker[worker].used; i++)
        holds = holds || slot[i].run != NOTHING;
    if (holds)
        chain_append(&c->holders, worker);
    else
        chain_remove(&c->holders, worker);
}

/* The number of runs that the worker trains: 1 if its first slot has a run, else 0. */
static int trains(const struct coordinator *c, int worker)
{
    return c->pool.worker[worker].used > 0 && slots_of(c, worker)[0].run != NOTHING;
}

static void slot_remove(struct coordinator *c, int worker, int at)
{
    struct worker *w = &c->pool.worker[worker];
    struct slot *slot = slots_of(c, worker);

    c->running -= trains(c, worker);
    w->used--;
    memmove(&slot[at], &slot[at + 1], (size_t)(w->used - at) * sizeof(*slot));
    c->running += trains(c, worker);
    note_holder(c, worker);
}

static void give(struct coordinator *c, int worker, int64_t run)
{
    struct worker *w = &c->pool.worker[worker];
    struct slot *slot = &slots_of(c, worker)[w->used];

    c->running -= trains(c, worker);
    *slot = (struct slot){++c->ticket, run};
    w->used++;
    c->running += trains(c, worker);
    note_holder(c, worker);
    if (w->state == WORKER_IDLE) {
        pool_enter(&c->pool, worker, WORKER_BUSY);
        pool_grant(&c->pool, worker, c->options.silence, c->now);
    }
    push_run(c, ORDER_RUN, worker, slot);
}

/* ---- loss of workers ---- */

/* A run loses its worker; `counts`: the loss counts as a death. */
static void run_lose(struct coordinator *c, int worker, const struct slot *slot, bool counts)
{
    struct queued_run *run = &c->queue.run[slot->run];

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
    struct slot *slot = slots_of(c, worker);

    c->running -= trains(c, worker);
    for (int i = c->pool.worker[worker].used - 1; i >= 0; i--) {
        if (slot[i].run != NOTHING)
            run_lose(c, worker, &slot[i], blame && i == 0);
        slot[i].run = NOTHING;
    }
    note_holder(c, worker);
}

static void lose(struct coordinator *c, int worker, bool blame)
{
    take_all(c, worker, blame);
    c->pool.worker[worker].used = 0;
    pool_enter(&c->pool, worker, WORKER_DEAD);
}

static void give_up(struct coordinator *c, int worker)
{
    int64_t run = trains(c, worker) ? slots_of(c, worker)[0].run : NOTHING;
    int64_t cell = run == NOTHING ? NOTHING : c->queue.run[run].cell;

    orders_push(&c->orders, (struct order){.kind = ORDER_GIVE_UP, .worker = worker, .cell = cell});
    take_all(c, worker, pool_node_lives(&c->pool, worker));
    c->pool.worker[worker].told = false;
    pool_enter(&c->pool, worker, WORKER_GIVEN_UP);
}

/* ---- handing out ---- */

static double held_cost(const struct coordinator *c, int worker)
{
    const struct slot *slot = slots_of(c, worker);
    double cost = 0;

    for (int i = 0; i < c->pool.worker[worker].used; i++)
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

    while (w->state == WORKER_BUSY && w->used < c->slots && c->queue.waiting > 0 && !c->stopping) {
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
    int holder = c->holders.last;
    struct slot *slot = slots_of(c, holder);
    int at = c->pool.worker[holder].used - 1;

    while (slot[at].run == NOTHING)
        at--;
    int64_t run = slot[at].run;
    push_run(c, ORDER_STOP, holder, &slot[at]);
    slot[at].run = NOTHING;
    note_holder(c, holder);
    give(c, idle, run);
}

static void hand_out(struct coordinator *c)
{
    while (!c->stopping && c->pool.idle.first != CHAIN_END) {
        int worker = c->pool.idle.first;
        if (c->queue.waiting > 0) {
            give(c, worker, queue_take(&c->queue));
            top_up(c, worker);
        } else if (c->holders.last != CHAIN_END) {
            take_over(c, worker);
        } else {
            return;
        }
    }
}

static void finish_if_done(struct coordinator *c)
{
    const int *count = c->pool.count;
    bool done = c->stopping || c->ended == c->queue.count;

    if (c->finished || !done || count[WORKER_BUSY] + count[WORKER_LEAVING] > 0)
        return;
    c->finished = true;
    for (int i = 0; i < c->pool.size; i++)
        if (c->pool.worker[i].state != WORKER_ABSENT && c->pool.worker[i].state != WORKER_DEAD)
            push_plain(c, ORDER_QUIT, i);
    push_plain(c, ORDER_FINISH, NOBODY);
}

/* ---- events ---- */

/* The worker's tickets are void. If it is the same process as before and still trains, it is told to stop. */
static void handle_hello(struct coordinator *c, int worker, int node, double patience)
{
    if (c->pool.worker[worker].used > 0)
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
    if (w->used == 0)
        pool_enter(&c->pool, worker, WORKER_IDLE);
    else if (!w->told)
        push_plain(c, ORDER_STOP, worker);
    w->told = true;
}

/* Accepts a patience only for the worker's current ticket; a newer order may be on its way to the worker. */
static void handle_progress(struct coordinator *c, int worker, uint64_t ticket, double patience)
{
    struct worker *w = &c->pool.worker[worker];
    uint64_t current = w->used > 0 ? slots_of(c, worker)[0].ticket : 0;

    if (ticket == current)
        w->patience = patience;
    pool_hear(&c->pool, worker, c->now);
    wake(c, worker);
}

static void handle_checkpoint(struct coordinator *c, int worker, uint64_t ticket)
{
    int at = slot_find(c, worker, ticket);
    int64_t run = at == NOTHING ? NOTHING : slots_of(c, worker)[at].run;

    if (run != NOTHING)
        c->queue.run[run].deaths = 0;
    pool_hear(&c->pool, worker, c->now);
    wake(c, worker);
}

/* Settles the run of a slot that its worker has ended or handed back. */
static void settle_slot(struct coordinator *c, int worker, const struct slot *slot, bool ended)
{
    if (slot->run == NOTHING)
        return;
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
    int at = slot_find(c, worker, ticket);

    pool_hear(&c->pool, worker, c->now);
    if (at == NOTHING) {
        wake(c, worker);
        return;
    }
    struct slot slot = slots_of(c, worker)[at];
    slot_remove(c, worker, at);
    settle_slot(c, worker, &slot, ended);
    if (at == 0) /* the next run, if any, starts now */
        pool_grant(&c->pool, worker, c->options.silence, c->now);
    if (w->used > 0) {
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
    finish_if_done(c);
}

int64_t coordinator_cell(const struct coordinator *c, int worker, uint64_t ticket)
{
    if (worker < 0 || worker >= c->pool.size)
        return NOTHING;
    int at = slot_find(c, worker, ticket);
    if (at == NOTHING || slots_of(c, worker)[at].run == NOTHING)
        return NOTHING;
    return c->queue.run[slots_of(c, worker)[at].run].cell;
}

void coordinator_state(const struct coordinator *c, struct coordinator_state *state)
{
    *state = (struct coordinator_state){
        .pending = c->queue.count - c->ended - c->running,
        .running = c->running,
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
    c->slots = 1 + options->orders_ahead;
    c->now = -INFINITY;
    c->slot = calloc((size_t)(max_workers + 1) * (size_t)c->slots, sizeof(*c->slot));
    int failed = pool_init(&c->pool, max_workers) | chain_init(&c->holders, max_workers) |
                 queue_init(&c->queue, pending, cost, deaths, count) | orders_init(&c->orders);
    if (failed || !c->slot) {
        coordinator_free(c);
        return NULL;
    }
    c->cost_left = c->queue.cost;
    return c;
}

void coordinator_free(struct coordinator *c)
{
    if (!c)
        return;
    queue_release(&c->queue);
    chain_release(&c->holders);
    pool_release(&c->pool);
    free(c->slot);
    orders_release(&c->orders);
    free(c);
}
