/*
 * Each run to the first free worker, and the longest first where that matters, near the end: list scheduling,
 * whose makespan is close to optimal. Before, runs come in the order that the caller has chosen. A
 * worker also holds orders ahead, so that it need not wait for an answer between two runs; but an order ahead
 * is bound to its worker before the worker is free, which list scheduling never does. Two rules keep the
 * makespan short:
 * - a worker gets an order ahead only while everything that it then holds is a small part of its share of the
 * queue. So a few long runs are never bound; waiting between them costs little;
 * - costs are estimates and runs diverge early: once the queue is empty, an idle worker takes over an order
 * that another holds ahead. The holder is told to hand it back; if it has just begun the run, it stops, and
 * its messages under the old ticket no longer count.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>

/* The most that a worker holds, as a part of its share of the queue. With 1 the makespan of 24 runs was up to
 * 4 % longer, with wrong cost estimates 31 %; with this value it is 1 %. */
#define HELD_PART 0.25

/* The longest runs come first once so few are left for each worker. With 4 the makespan was up to 8 % longer
 * than with the longest first from the start, with 8 4 %, with 16 1 %. */
#define ENDING_RUNS 16

/* ---- life ---- */

int assignment_init(struct assignment *a, struct pending_runs pending, int64_t most, int max_workers,
    const struct coordinator_options *options)
{
    *a = (struct assignment){.options = *options, .now = -INFINITY};
    int failed = pool_init(&a->pool, max_workers) |
                 slots_init(&a->slots, max_workers, 1 + options->orders_ahead) |
                 queue_init(&a->queue, pending, most) | orders_init(&a->orders);
    a->left = a->queue.waiting;
    a->cost_left = a->queue.cost;
    return failed ? -1 : 0;
}

void assignment_release(struct assignment *a)
{
    queue_release(&a->queue);
    slots_release(&a->slots);
    pool_release(&a->pool);
    orders_release(&a->orders);
}

/* ---- orders ---- */

void assignment_order(struct assignment *a, enum order_kind kind, int worker)
{
    orders_push(&a->orders, (struct order){.kind = kind, .worker = worker, .cell = NOTHING});
}

void assignment_order_run(struct assignment *a, enum order_kind kind, int worker, const struct slot *slot)
{
    const struct pending_run *run = &a->queue.run[slot->run].run;

    orders_push(&a->orders, (struct order){.kind = kind,
                                .worker = worker,
                                .cell = run->cell,
                                .ticket = slot->ticket,
                                .deaths = run->deaths});
}

/* ---- runs ---- */

void assignment_end(struct assignment *a, int64_t run)
{
    INVARIANT(a->left > 0, "run %" PRId64 " ends, %" PRId64 " are left", run, a->left);
    queue_end(&a->queue, run);
    a->ended++;
    a->left--;
    a->cost_left = a->left > 0 ? a->cost_left - a->queue.run[run].run.cost : 0;
}

struct queued_run *assignment_run(const struct assignment *a, int worker, const struct slot *slot)
{
    struct queued_run *run = &a->queue.run[slot->run];

    INVARIANT(run->state == RUN_HELD && run->holder == worker,
        "ticket %" PRIu64 " of worker %d: run %" PRId64 " is %d, of worker %d", slot->ticket, worker,
        slot->run, run->state, run->holder);
    return run;
}

static void give(struct assignment *a, int worker, int64_t run)
{
    struct slot slot = slots_give(&a->slots, worker, run);
    enum worker_state state = a->pool.worker[worker].state;

    INVARIANT(state == WORKER_IDLE || state == WORKER_BUSY, "worker %d in state %d", worker, state);
    INVARIANT(a->queue.run[run].state == RUN_HELD, "run %" PRId64 " is %d", run, a->queue.run[run].state);
    a->queue.run[run].holder = worker;
    if (state == WORKER_IDLE) {
        pool_enter(&a->pool, worker, WORKER_BUSY);
        pool_grant(&a->pool, worker, a->options.silence, a->now);
    }
    assignment_order_run(a, ORDER_RUN, worker, &slot);
}

const struct slot *assignment_slot(const struct assignment *a, int worker, uint64_t ticket)
{
    int at = slots_find(&a->slots, worker, ticket);
    const struct slot *slot = at == NOTHING ? NULL : &slots_of(&a->slots, worker)[at];

    return slot && slot->run != NOTHING ? slot : NULL;
}

bool assignment_add(struct assignment *a, const struct pending_run *run)
{
    if (!queue_add(&a->queue, run))
        return false;
    a->left++;
    a->cost_left += run->cost;
    return true;
}

/* ---- loss of workers ---- */

/* A worker has died, and its node has not: this counts against the run in training and, until it has finished
 * a run, against the node. */
static void strike(struct assignment *a, int worker, int64_t run)
{
    struct pool_node *node = pool_node_of(&a->pool, worker);
    int at = 0;

    if (node->shut)
        return;
    a->queue.run[run].run.deaths++;
    while (at < node->struck && node->run[at] != run)
        at++;
    if (node->proven || at == STRIKES)
        return;
    node->deaths[at] = at < node->struck ? node->deaths[at] + 1 : 1;
    node->run[at] = run;
    node->struck += at == node->struck;
    if (node->struck < STRIKES || a->pool.open <= 1)
        return;
    for (int i = 0; i < STRIKES; i++) {
        struct queued_run *pardoned = &a->queue.run[node->run[i]];
        int *deaths = &pardoned->run.deaths;
        *deaths -= node->deaths[i] < *deaths ? node->deaths[i] : *deaths;
        if (pardoned->state != RUN_ENDED)
            orders_push(&a->orders,
                (struct order){
                    .kind = ORDER_PARDON, .worker = worker, .cell = pardoned->run.cell, .deaths = *deaths});
    }
    pool_shut(&a->pool, worker);
    assignment_order(a, ORDER_SHUT, worker);
}

/*
 * Takes all runs from a worker, the one in training last, so that it is the first of them to be handed out.
 * `blame`: the run in training has killed the worker, and fails if it has killed too many.
 */
static void take_all(struct assignment *a, int worker, bool blame)
{
    for (int i = a->slots.used[worker] - 1; i >= 0; i--) {
        if (slots_of(&a->slots, worker)[i].run == NOTHING)
            continue;
        struct slot slot = slots_void(&a->slots, worker, i);
        struct pending_run *run = &assignment_run(a, worker, &slot)->run;
        bool killed = blame && i == 0;
        if (killed)
            strike(a, worker, slot.run);
        if (killed && run->deaths >= a->options.deaths) {
            assignment_end(a, slot.run);
            assignment_order_run(a, ORDER_FAIL, worker, &slot);
        } else {
            assignment_order_run(a, ORDER_RETURN, worker, &slot);
            queue_return(&a->queue, slot.run, killed);
        }
    }
}

void assignment_lose(struct assignment *a, int worker, bool blame)
{
    take_all(a, worker, blame);
    slots_clear(&a->slots, worker);
    pool_enter(&a->pool, worker, WORKER_DEAD);
}

void assignment_give_up(struct assignment *a, int worker)
{
    int64_t run = slots_train(&a->slots, worker) ? slots_of(&a->slots, worker)[0].run : NOTHING;
    int64_t cell = run == NOTHING ? NOTHING : a->queue.run[run].run.cell;

    orders_push(&a->orders, (struct order){.kind = ORDER_GIVE_UP, .worker = worker, .cell = cell});
    take_all(a, worker, pool_node_lives(&a->pool, worker));
    a->pool.worker[worker].told = false;
    pool_enter(&a->pool, worker, WORKER_GIVEN_UP);
}

/* ---- handing out ---- */

/* The workers that share the queue: all that are not lost, including those that have yet to arrive. */
static int count_sharing(const struct assignment *a)
{
    const int *count = a->pool.count;

    return count[WORKER_ABSENT] + count[WORKER_IDLE] + count[WORKER_BUSY];
}

static struct pick pick_for(const struct assignment *a, int worker)
{
    return (struct pick){.longest = a->queue.waiting <= (int64_t)ENDING_RUNS * count_sharing(a),
        .struck = pool_is_trusted(&a->pool, worker)};
}

/* Gives orders ahead by the first rule at the top of this file. */
void assignment_top_up(struct assignment *a, int worker)
{
    const struct worker *w = &a->pool.worker[worker];
    const struct slot *slot = slots_of(&a->slots, worker);
    const int *used = &a->slots.used[worker];

    while (w->state == WORKER_BUSY && !pool_node_of(&a->pool, worker)->shut && *used < a->slots.each &&
           a->queue.waiting > 0 && !a->stopping) {
        struct pick pick = pick_for(a, worker);
        double cost = a->queue.run[queue_front(&a->queue, pick)].run.cost, held = 0;
        double share = (a->queue.cost - cost) / count_sharing(a);
        for (int i = 0; i < *used; i++)
            if (slot[i].run != NOTHING)
                held += a->queue.run[slot[i].run].run.cost;
        if (held + cost > HELD_PART * share)
            return;
        give(a, worker, queue_take(&a->queue, pick));
    }
}

void assignment_hand_out(struct assignment *a)
{
    for (int i = 0; a->pool.open == 0 && a->pool.count[WORKER_SHUT] > 0 && i < a->pool.size; i++)
        if (a->pool.worker[i].state == WORKER_SHUT && pool_prove(&a->pool, i))
            assignment_order(a, ORDER_OPEN, i);
    while (!a->stopping && a->pool.idle.first != CHAIN_END) {
        int worker = a->pool.idle.first;
        if (a->queue.waiting > 0) {
            give(a, worker, queue_take(&a->queue, pick_for(a, worker)));
            assignment_top_up(a, worker);
        } else if (a->slots.holders.last !=
                   CHAIN_END) { /* the second rule: take over the latest order ahead */
            int holder = a->slots.holders.last;
            struct slot slot = slots_void(&a->slots, holder, slots_last(&a->slots, holder));
            assignment_run(a, holder, &slot);
            assignment_order_run(a, ORDER_STOP, holder, &slot);
            give(a, worker, slot.run);
        } else {
            return;
        }
    }
}

void assignment_check(const struct assignment *a)
{
    INVARIANT(a->left == a->queue.waiting + a->slots.runs,
        "%" PRId64 " left, %" PRId64 " waiting, %" PRId64 " held", a->left, a->queue.waiting, a->slots.runs);
    INVARIANT(a->slots.training >= 0 && a->slots.training <= a->slots.runs,
        "%" PRId64 " of %" PRId64 " in training", a->slots.training, a->slots.runs);
}
