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
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>

/* The most that a worker holds, as a part of its share of the queue. With 1 the makespan of 24 runs was up to
 * 4 % longer, with wrong cost estimates 31 %; with this value it is 1 %. */
#define HELD_PART 0.25

/* ---- life ---- */

int assignment_init(struct assignment *a, const int64_t *pending, const double *cost, const int *deaths,
    int64_t count, int max_workers, const struct coordinator_options *options)
{
    *a = (struct assignment){.options = *options, .now = -INFINITY, .left = count};
    int failed = pool_init(&a->pool, max_workers) |
                 slots_init(&a->slots, max_workers, 1 + options->orders_ahead) |
                 queue_init(&a->queue, pending, cost, deaths, count) | orders_init(&a->orders);
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
    const struct queued_run *run = &a->queue.run[slot->run];

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
    a->cost_left = a->left > 0 ? a->cost_left - a->queue.run[run].cost : 0;
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

bool assignment_add(struct assignment *a, int64_t cell, double cost, int deaths)
{
    if (!queue_add(&a->queue, cell, cost, deaths))
        return false;
    a->left++;
    a->cost_left += cost;
    return true;
}

/* ---- loss of workers ---- */

/*
 * Takes all runs from a worker, the one in training last, so that it is the next one to be handed out.
 * `blame`: the run in training has killed the worker, and fails if it has killed too many.
 */
static void take_all(struct assignment *a, int worker, bool blame)
{
    for (int i = a->slots.used[worker] - 1; i >= 0; i--) {
        if (slots_of(&a->slots, worker)[i].run == NOTHING)
            continue;
        struct slot slot = slots_void(&a->slots, worker, i);
        struct queued_run *run = assignment_run(a, worker, &slot);
        bool counts = blame && i == 0;
        run->deaths += counts;
        if (counts && run->deaths >= a->options.deaths) {
            assignment_end(a, slot.run);
            assignment_order_run(a, ORDER_FAIL, worker, &slot);
        } else {
            assignment_order_run(a, ORDER_RETURN, worker, &slot);
            queue_return(&a->queue, slot.run);
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
    int64_t cell = run == NOTHING ? NOTHING : a->queue.run[run].cell;

    orders_push(&a->orders, (struct order){.kind = ORDER_GIVE_UP, .worker = worker, .cell = cell});
    take_all(a, worker, pool_node_lives(&a->pool, worker));
    a->pool.worker[worker].told = false;
    pool_enter(&a->pool, worker, WORKER_GIVEN_UP);
}

/* ---- handing out ---- */

/* Gives orders ahead by the first rule at the top of this file. */
void assignment_top_up(struct assignment *a, int worker)
{
    const struct worker *w = &a->pool.worker[worker];
    const struct slot *slot = slots_of(&a->slots, worker);
    const int *used = &a->slots.used[worker], *count = a->pool.count;

    while (w->state == WORKER_BUSY && *used < a->slots.each && a->queue.waiting > 0 && !a->stopping) {
        /* All workers that are not lost share the queue, including those that have yet to arrive. */
        int sharing = count[WORKER_ABSENT] + count[WORKER_IDLE] + count[WORKER_BUSY];
        double cost = a->queue.run[queue_front(&a->queue)].cost, held = 0;
        double share = (a->queue.cost - cost) / sharing;
        for (int i = 0; i < *used; i++)
            if (slot[i].run != NOTHING)
                held += a->queue.run[slot[i].run].cost;
        if (held + cost > HELD_PART * share)
            return;
        give(a, worker, queue_take(&a->queue));
    }
}

void assignment_hand_out(struct assignment *a)
{
    while (!a->stopping && a->pool.idle.first != CHAIN_END) {
        int worker = a->pool.idle.first;
        if (a->queue.waiting > 0) {
            give(a, worker, queue_take(&a->queue));
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
