/*
 * What each event means for the runs of its worker, and which worker gets which run. Every run waits in the
 * queue, is held by one worker under a ticket, or has ended.
 *
 * Each run goes to the first free worker, and near the end the longest run goes first: list scheduling, whose
 * makespan is close to optimal. Until then runs come in the order that the caller has chosen. A worker also
 * holds orders ahead, so that it need not wait for an answer between two runs; but an order ahead is bound to
 * its worker before the worker is free, which list scheduling never does. Two rules keep the makespan short:
 * - a worker gets an order ahead only while everything that it then holds is a small part of its share of the
 * queue. So a few long runs are never bound; waiting between them costs little;
 * - costs are estimates and runs diverge early: once the queue is empty, an idle worker takes over an order
 * that another holds ahead. The holder is told to hand it back; if it has just begun the run, it stops, and
 * its messages under the old ticket no longer count.
 *
 * A worker that was given up keeps its tickets without their runs: its messages under them are ignored, and
 * once it has handed back all of them it is idle like any other.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The most that a worker holds, as a part of its share of the queue. With 1 the makespan of 24 runs was up to
 * 4 % longer, with wrong cost estimates 31 %; with this value it is 1 %. */
#define HELD_PART 0.25

/* The longest runs come first once so few are left for each worker. With 4 the makespan was up to 8 % longer
 * than with the longest first from the start, with 8 4 %, with 16 1 %. */
#define ENDING_RUNS 16

enum { NOTHING = -1 }; /* no worker, run or cell */

struct coordinator {
    struct coordinator_options options;
    struct queue queue;
    int64_t left, ended; /* runs; left: have not ended */
    double cost_left; /* of the runs that are left */
    struct pool pool;
    struct slots slots;
    struct orders orders;
    double now; /* seconds: the time of the event that is handled */
    bool stopping; /* no run is given any more */
    bool finished; /* ORDER_FINISH was given */
    int64_t waits; /* see struct coordinator_state */
};

/* ---- life ---- */

struct coordinator *coordinator_new(
    struct pending_runs pending, int64_t most, int max_workers, const struct coordinator_options *options)
{
    struct coordinator *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->options = *options;
    c->now = -INFINITY;
    if (pool_init(&c->pool, max_workers) | slots_init(&c->slots, max_workers, 1 + options->orders_ahead) |
        queue_init(&c->queue, pending, most) | orders_init(&c->orders)) {
        coordinator_free(c);
        return NULL;
    }
    c->left = c->queue.waiting;
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

/* Every run that is left waits or is held, once. */
static void check(const struct coordinator *c)
{
    INVARIANT(c->left == c->queue.waiting + c->slots.runs,
        "%" PRId64 " left, %" PRId64 " waiting, %" PRId64 " held", c->left, c->queue.waiting, c->slots.runs);
    INVARIANT(c->slots.training >= 0 && c->slots.training <= c->slots.runs,
        "%" PRId64 " of %" PRId64 " in training", c->slots.training, c->slots.runs);
}

/* ---- orders ---- */

static void order_worker(struct coordinator *c, enum order_kind kind, int worker)
{
    orders_push(&c->orders, (struct order){.kind = kind, .worker = worker, .cell = NOTHING});
}

static void order_run(struct coordinator *c, enum order_kind kind, int worker, const struct slot *slot)
{
    const struct pending_run *run = &c->queue.run[slot->run].run;

    orders_push(&c->orders, (struct order){.kind = kind,
                                .worker = worker,
                                .cell = run->cell,
                                .ticket = slot->ticket,
                                .deaths = run->deaths});
}

/* ---- runs ---- */

/* The run of a slot, which the worker holds, or held until just now. */
static struct pending_run *run_of(const struct coordinator *c, int worker, const struct slot *slot)
{
    struct queued_run *run = &c->queue.run[slot->run];

    INVARIANT(run->state == RUN_HELD && run->holder == worker,
        "ticket %" PRIu64 " of worker %d: run %" PRId64 " is %d, of worker %d", slot->ticket, worker,
        slot->run, run->state, run->holder);
    return &run->run;
}

/* The run of a worker's ticket; NULL: messages under that ticket no longer count. */
static struct pending_run *find_run(const struct coordinator *c, int worker, uint64_t ticket)
{
    int at = slots_find(&c->slots, worker, ticket);
    const struct slot *slot = at == SLOT_NONE ? NULL : &slots_of(&c->slots, worker)[at];

    return slot && slot->run != SLOT_NONE ? run_of(c, worker, slot) : NULL;
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
    order_run(c, ORDER_RUN, worker, &slot);
}

/* A held run has ended. */
static void end_run(struct coordinator *c, int64_t run)
{
    INVARIANT(c->left > 0, "run %" PRId64 " ends, %" PRId64 " are left", run, c->left);
    queue_end(&c->queue, run);
    c->ended++;
    c->left--;
    c->cost_left = c->left > 0 ? c->cost_left - c->queue.run[run].run.cost : 0;
}

/* ---- loss of workers ---- */

/* A worker has died, and its node has not: this counts against the run in training and, until the node has
 * finished a run, against the node, if there is another. */
static void strike(struct coordinator *c, int worker, int64_t run)
{
    struct pool_node *node = pool_node_of(&c->pool, worker);
    int at = 0;

    if (node->shut)
        return;
    c->queue.run[run].run.deaths++;
    if (node->proven || c->pool.open <= 1)
        return;
    while (at < node->struck && node->run[at] != run)
        at++;
    node->deaths[at] = at < node->struck ? node->deaths[at] + 1 : 1;
    node->run[at] = run;
    node->struck += at == node->struck;
    if (node->struck < STRIKES)
        return;
    for (int i = 0; i < STRIKES; i++) {
        struct queued_run *pardoned = &c->queue.run[node->run[i]];
        int *deaths = &pardoned->run.deaths;
        *deaths -= node->deaths[i] < *deaths ? node->deaths[i] : *deaths;
        if (pardoned->state != RUN_ENDED)
            orders_push(&c->orders,
                (struct order){
                    .kind = ORDER_PARDON, .worker = worker, .cell = pardoned->run.cell, .deaths = *deaths});
    }
    pool_shut(&c->pool, worker);
    order_worker(c, ORDER_SHUT, worker);
}

/*
 * Takes all runs from a worker, the one in training last, so that it is the first of them to be handed out.
 * `blame`: the run in training has killed the worker, and fails if it has killed too many.
 */
static void take_all(struct coordinator *c, int worker, bool blame)
{
    for (int i = c->slots.used[worker] - 1; i >= 0; i--) {
        if (slots_of(&c->slots, worker)[i].run == SLOT_NONE)
            continue;
        struct slot slot = slots_void(&c->slots, worker, i);
        const struct pending_run *run = run_of(c, worker, &slot);
        bool killed = blame && i == 0;
        if (killed)
            strike(c, worker, slot.run);
        if (killed && run->deaths >= c->options.deaths) {
            end_run(c, slot.run);
            order_run(c, ORDER_FAIL, worker, &slot);
        } else {
            order_run(c, ORDER_RETURN, worker, &slot);
            queue_return(&c->queue, slot.run, killed);
        }
    }
}

/* The worker is dead: its runs wait again, or fail. `blame`: the run in training has killed it. */
static void lose(struct coordinator *c, int worker, bool blame)
{
    take_all(c, worker, blame);
    slots_clear(&c->slots, worker);
    pool_enter(&c->pool, worker, WORKER_DEAD);
}

/* The worker was silent for too long: the same, but it keeps its tickets, without their runs. */
static void give_up(struct coordinator *c, int worker)
{
    int64_t run = slots_train(&c->slots, worker) ? slots_of(&c->slots, worker)[0].run : NOTHING;
    int64_t cell = run == NOTHING ? NOTHING : c->queue.run[run].run.cell;

    orders_push(&c->orders, (struct order){.kind = ORDER_GIVE_UP, .worker = worker, .cell = cell});
    take_all(c, worker, pool_node_lives(&c->pool, worker));
    c->pool.worker[worker].told = false;
    pool_enter(&c->pool, worker, WORKER_GIVEN_UP);
}

/* ---- handing out ---- */

/* The workers that share the queue: all that are not lost, including those that have yet to arrive. */
static int count_sharing(const struct coordinator *c)
{
    const int *count = c->pool.count;

    return count[WORKER_ABSENT] + count[WORKER_IDLE] + count[WORKER_BUSY];
}

static struct pick pick_for(const struct coordinator *c, int worker)
{
    return (struct pick){.longest = c->queue.waiting <= (int64_t)ENDING_RUNS * count_sharing(c),
        .struck = pool_is_trusted(&c->pool, worker)};
}

/* Gives a busy worker orders ahead, by the first rule at the top of this file. */
static void top_up(struct coordinator *c, int worker)
{
    const struct worker *w = &c->pool.worker[worker];
    const struct slot *slot = slots_of(&c->slots, worker);
    const int *used = &c->slots.used[worker];

    while (w->state == WORKER_BUSY && !pool_node_of(&c->pool, worker)->shut && *used < c->slots.each &&
           c->queue.waiting > 0 && !c->stopping) {
        struct pick pick = pick_for(c, worker);
        double cost = c->queue.run[queue_front(&c->queue, pick)].run.cost, held = 0;
        double share = (c->queue.cost - cost) / count_sharing(c);
        for (int i = 0; i < *used; i++)
            if (slot[i].run != SLOT_NONE)
                held += c->queue.run[slot[i].run].run.cost;
        if (held + cost > HELD_PART * share)
            return;
        give(c, worker, queue_take(&c->queue, pick));
    }
}

/* Gives runs to idle workers, from the queue or from what others hold ahead. If no node is open, opens one.
 */
static void hand_out(struct coordinator *c)
{
    const int *idle = &c->pool.idle.first, *holder = &c->slots.holders.last;

    for (int i = 0; c->pool.open == 0 && c->pool.count[WORKER_SHUT] > 0 && i < c->pool.size; i++)
        if (c->pool.worker[i].state == WORKER_SHUT && pool_prove(&c->pool, i))
            order_worker(c, ORDER_OPEN, i);
    while (!c->stopping && *idle != CHAIN_END && (c->queue.waiting > 0 || *holder != CHAIN_END)) {
        int worker = *idle, from = *holder;
        if (c->queue.waiting > 0) {
            give(c, worker, queue_take(&c->queue, pick_for(c, worker)));
            top_up(c, worker);
        } else { /* the second rule: take over the latest order ahead */
            struct slot slot = slots_void(&c->slots, from, slots_last(&c->slots, from));
            run_of(c, from, &slot);
            order_run(c, ORDER_STOP, from, &slot);
            give(c, worker, slot.run);
        }
    }
    check(c);
}

int64_t coordinator_add(struct coordinator *c, const struct pending_run *run, int64_t count, double now)
{
    int64_t added = 0, last = 0;

    if (c->stopping || c->finished)
        return 0;
    for (int64_t i = 0; i < count; i++)
        last = run[i].cell > last ? run[i].cell : last;
    if (queue_reserve(&c->queue, count, last) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (queue_add(&c->queue, &run[i])) {
            added++;
            c->left++;
            c->cost_left += run[i].cost;
        }
    c->now = fmax(c->now, now);
    hand_out(c);
    return added;
}

/* ---- events ---- */

/* The worker's tickets are void. If it is the same process as before and still trains, it is told to stop. */
static void handle_hello(struct coordinator *c, int worker, int node, double patience)
{
    if (c->slots.used[worker] > 0)
        order_worker(c, ORDER_STOP, worker);
    lose(c, worker, false);
    c->pool.worker[worker].patience = patience;
    pool_arrive(&c->pool, worker, node, c->now);
    if (c->finished)
        order_worker(c, ORDER_QUIT, worker);
    else
        pool_rest(&c->pool, worker);
}

/* A message of a worker that was given up: it is idle, or is told to stop its runs. */
static void wake(struct coordinator *c, int worker)
{
    struct worker *w = &c->pool.worker[worker];

    if (w->state != WORKER_GIVEN_UP)
        return;
    if (c->slots.used[worker] == 0)
        pool_rest(&c->pool, worker);
    else if (!w->told)
        order_worker(c, ORDER_STOP, worker);
    w->told = true;
}

/* The worker has ended the run of a ticket, or handed it back. The run may have been taken from it. */
static void handle_result(struct coordinator *c, int worker, uint64_t ticket, bool ended)
{
    const struct worker *w = &c->pool.worker[worker];
    int at = slots_find(&c->slots, worker, ticket);

    if (at == SLOT_NONE) {
        wake(c, worker);
        return;
    }
    struct slot slot = slots_remove(&c->slots, worker, at);
    if (slot.run != SLOT_NONE) {
        run_of(c, worker, &slot);
        if (ended) {
            end_run(c, slot.run);
            order_run(c, ORDER_ACCEPT, worker, &slot);
            if (pool_prove(&c->pool, worker))
                order_worker(c, ORDER_OPEN, worker);
        } else {
            order_run(c, ORDER_RETURN, worker, &slot);
            queue_return(&c->queue, slot.run, false);
            if (!c->stopping && w->state == WORKER_BUSY)
                pool_enter(&c->pool, worker, WORKER_LEAVING);
        }
    }
    if (at == 0) /* the next run, if any, starts now */
        pool_grant(&c->pool, worker, c->options.silence, c->now);
    if (c->slots.used[worker] > 0) {
        top_up(c, worker);
        wake(c, worker);
    } else if (w->state == WORKER_LEAVING) {
        pool_enter(&c->pool, worker, WORKER_LEFT);
    } else {
        pool_rest(&c->pool, worker);
    }
    c->waits += w->state == WORKER_IDLE && c->queue.waiting > 0;
}

/* An event of one worker. Nothing is heard of one that is absent or dead, except its hello. */
static void handle_worker(struct coordinator *c, const struct event *event)
{
    int worker = event->worker;
    enum worker_state state = c->pool.worker[worker].state;
    double patience = event->patience > 0 ? event->patience : c->options.silence;

    if (event->kind == EVENT_HELLO) {
        if (event->node >= 0 && event->node < c->pool.size)
            handle_hello(c, worker, event->node, patience);
        return;
    }
    if (event->kind == EVENT_LOST) {
        lose(c, worker, event->blame);
        return;
    }
    if (state == WORKER_ABSENT || state == WORKER_DEAD)
        return;
    /* The patience counts only for the current ticket; a newer order may be on its way to the worker. */
    uint64_t current = c->slots.used[worker] > 0 ? slots_of(&c->slots, worker)[0].ticket : 0;
    if (event->kind == EVENT_PROGRESS && event->ticket == current)
        c->pool.worker[worker].patience = patience;
    pool_hear(&c->pool, worker, c->now);
    if (event->kind == EVENT_RESULT) {
        handle_result(c, worker, event->ticket, event->ended);
        return;
    }
    struct pending_run *run = find_run(c, worker, event->ticket);
    if (event->kind == EVENT_CHECKPOINT && run)
        run->deaths = 0;
    wake(c, worker);
}

void coordinator_handle(struct coordinator *c, const struct event *event)
{
    c->now = fmax(c->now, event->now);
    if (event->kind == EVENT_STOP && !c->stopping) {
        c->stopping = true;
        for (int i = 0; i < c->pool.size; i++)
            if (c->pool.worker[i].state == WORKER_BUSY || c->pool.worker[i].state == WORKER_LEAVING)
                order_worker(c, ORDER_STOP, i);
    } else if (event->kind == EVENT_TICK) {
        for (int i = 0; i < c->pool.size; i++)
            if (pool_is_silent(&c->pool, i, c->now))
                give_up(c, i);
    } else if (event->kind != EVENT_STOP && event->worker >= 0 && event->worker < c->pool.size) {
        handle_worker(c, event);
    }
    hand_out(c);
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
            order_worker(c, ORDER_QUIT, i);
    order_worker(c, ORDER_FINISH, NOTHING);
}

bool coordinator_next(struct coordinator *c, struct order *order)
{
    if (orders_take(&c->orders, order))
        return true;
    finish_if_done(c);
    return orders_take(&c->orders, order);
}

/* ---- questions ---- */

int64_t coordinator_cell(const struct coordinator *c, int worker, uint64_t ticket)
{
    const struct pending_run *run = worker >= 0 && worker < c->pool.size ? find_run(c, worker, ticket) : NULL;

    return run ? run->cell : NOTHING;
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
