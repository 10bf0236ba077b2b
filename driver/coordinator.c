/*
 * Longest runs first, each to the first worker that is free: list scheduling, whose makespan is near the
 * best. A worker also holds orders ahead, so that it need not wait for an answer between two runs; but an
 * order ahead is bound to its worker before that worker is free, which list scheduling never does. Two rules
 * keep the makespan:
 * - an order is given ahead only while all that its worker holds then is a small part of the work still
 *   queued, spread over all workers. Few long runs are never bound, and lose little by a wait;
 * - costs are estimates and runs diverge early: once the queue is empty, an idle worker takes over an order
 *   that another holds ahead. The holder is told to hand it back; should it have begun just then, it stops,
 *   and what it says under the old ticket no longer counts.
 *
 * A worker that was given up keeps its tickets without their runs: what it says under them is ignored, and
 * once it has handed all of them back it is idle like any other. Busy workers stand in a list by the time of
 * their last word, so that silence is looked for at its head alone. Each event moves O(1) links.
 */
#include "driver/coordinator.h"

#include "driver/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, NOTHING = -1 };

/* At most, of the worker's share of the queue. With 1 the makespan of 24 runs was up to 4 % longer, with
 * misjudged costs 31 %; with this part it is 1 %. */
#define HELD_PART 0.25

enum worker_state {
    WORKER_ABSENT, /* has not said hello, or is dead: has no slots */
    WORKER_IDLE, /* no slots in use */
    WORKER_BUSY, /* at least one slot in use */
    WORKER_LEAVING, /* handed a run back unasked, so it gets nothing more; slots still in use */
    WORKER_LEFT, /* the same without slots: it waits for the word to quit */
    WORKER_GIVEN_UP, /* silent for too long; its slots hold no runs */
};

/* A ticket that a worker holds; run NOTHING: taken back, its answer still to come. */
struct slot {
    uint64_t ticket;
    int64_t run;
};

struct link {
    int before, after;
};

struct list {
    int first, last;
};

struct worker {
    enum worker_state state;
    bool told; /* given up, and told to stop since it woke */
    int used; /* slots in use */
    double heard; /* the time of its last word */
    struct link place; /* in the idle or the busy list */
    struct link holder; /* in the list of those who hold orders ahead */
    bool holds_ahead;
};

struct coordinator {
    struct coordinator_options options;
    struct queue queue;
    int64_t ended, running, waits; /* see struct coordinator_state */
    double cost_left; /* of all runs that have not ended */
    int max_workers, live;
    struct worker *worker; /* [max_workers] */
    struct slot *slot; /* [max_workers][slots] in the order they are trained */
    int slots;
    struct list idle, busy, holders;
    int idle_count;
    uint64_t ticket; /* the last one given */
    double now;
    bool stopping, finished;
    struct order *order; /* [order_size] those not yet taken: order_first .. order_end - 1 */
    size_t order_size, order_first, order_end;
};

/* ---- lists of workers ---- */

static struct link *link_of(struct coordinator *c, const struct list *list, int worker)
{
    struct worker *w = &c->worker[worker];
    return list == &c->holders ? &w->holder : &w->place;
}

static void list_append(struct coordinator *c, struct list *list, int worker)
{
    *link_of(c, list, worker) = (struct link){list->last, NOBODY};
    if (list->last == NOBODY)
        list->first = worker;
    else
        link_of(c, list, list->last)->after = worker;
    list->last = worker;
}

static void list_remove(struct coordinator *c, struct list *list, int worker)
{
    struct link link = *link_of(c, list, worker);
    int *before = link.before == NOBODY ? &list->first : &link_of(c, list, link.before)->after;
    int *after = link.after == NOBODY ? &list->last : &link_of(c, list, link.after)->before;

    *before = link.after;
    *after = link.before;
}

static bool has_work(enum worker_state state)
{
    return state == WORKER_BUSY || state == WORKER_LEAVING;
}

/* Moves a worker to a state and to the list that goes with it. */
static void worker_enter(struct coordinator *c, int worker, enum worker_state state)
{
    struct worker *w = &c->worker[worker];

    if (w->state == WORKER_IDLE) {
        list_remove(c, &c->idle, worker);
        c->idle_count--;
    } else if (has_work(w->state)) {
        list_remove(c, &c->busy, worker);
    }
    c->live -= w->state == WORKER_IDLE || w->state == WORKER_BUSY;
    w->state = state;
    c->live += state == WORKER_IDLE || state == WORKER_BUSY;
    if (state == WORKER_IDLE) {
        list_append(c, &c->idle, worker);
        c->idle_count++;
    } else if (has_work(state)) {
        list_append(c, &c->busy, worker);
    }
}

/* ---- orders ---- */

/* Without memory for one more order the program cannot keep any promise: it ends. */
static void order_push(struct coordinator *c, enum order_kind kind, int worker, int64_t cell, uint64_t ticket)
{
    if (c->order_end == c->order_size) {
        c->order_size *= 2;
        c->order = realloc(c->order, c->order_size * sizeof(*c->order));
        if (!c->order)
            abort();
    }
    c->order[c->order_end++] = (struct order){kind, worker, cell, ticket};
}

bool coordinator_next(struct coordinator *c, struct order *order)
{
    if (c->order_first == c->order_end) {
        c->order_first = c->order_end = 0;
        return false;
    }
    *order = c->order[c->order_first++];
    return true;
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

    for (int i = 0; i < c->worker[worker].used; i++)
        if (slot[i].ticket == ticket)
            return i;
    return NOTHING;
}

/* Keeps the worker in the list of holders exactly while an order ahead of it can be taken over. */
static void note_holder(struct coordinator *c, int worker)
{
    struct worker *w = &c->worker[worker];
    const struct slot *slot = slots_of(c, worker);
    bool holds = false;

    for (int i = 1; i < w->used; i++)
        holds = holds || slot[i].run != NOTHING;
    if (holds && !w->holds_ahead)
        list_append(c, &c->holders, worker);
    if (!holds && w->holds_ahead)
        list_remove(c, &c->holders, worker);
    w->holds_ahead = holds;
}

/* How many runs of the worker count as running: the one in its first slot. */
static int trains(const struct coordinator *c, int worker)
{
    return c->worker[worker].used > 0 && slots_of(c, worker)[0].run != NOTHING;
}

static void slot_remove(struct coordinator *c, int worker, int at)
{
    struct worker *w = &c->worker[worker];
    struct slot *slot = slots_of(c, worker);

    c->running -= trains(c, worker);
    w->used--;
    memmove(&slot[at], &slot[at + 1], (size_t)(w->used - at) * sizeof(*slot));
    c->running += trains(c, worker);
    note_holder(c, worker);
}

static void give(struct coordinator *c, int worker, int64_t run)
{
    struct worker *w = &c->worker[worker];

    c->running -= trains(c, worker);
    slots_of(c, worker)[w->used++] = (struct slot){++c->ticket, run};
    c->running += trains(c, worker);
    note_holder(c, worker);
    if (w->state == WORKER_IDLE) {
        w->heard = c->now;
        worker_enter(c, worker, WORKER_BUSY);
    }
    order_push(c, ORDER_RUN, worker, c->queue.run[run].cell, c->ticket);
}

/* ---- loss of workers ---- */

/* A run loses its worker; `trained`: while it was being trained. */
static void run_lose(struct coordinator *c, int worker, const struct slot *slot, bool trained)
{
    struct queued_run *run = &c->queue.run[slot->run];

    if (trained && ++run->deaths >= c->options.deaths) {
        run_end(c, slot->run);
        order_push(c, ORDER_FAIL, worker, run->cell, slot->ticket);
        return;
    }
    order_push(c, ORDER_RETURN, worker, run->cell, slot->ticket);
    queue_return(&c->queue, slot->run);
}

/* Takes all runs from a worker, the one it trains last, so that this one comes to lie on top of the pile. */
static void take_all(struct coordinator *c, int worker)
{
    struct slot *slot = slots_of(c, worker);

    c->running -= trains(c, worker);
    for (int i = c->worker[worker].used - 1; i >= 0; i--) {
        if (slot[i].run != NOTHING)
            run_lose(c, worker, &slot[i], i == 0);
        slot[i].run = NOTHING;
    }
    note_holder(c, worker);
}

static void lose(struct coordinator *c, int worker)
{
    take_all(c, worker);
    c->worker[worker].used = 0;
    worker_enter(c, worker, WORKER_ABSENT);
}

static void give_up(struct coordinator *c, int worker)
{
    take_all(c, worker);
    c->worker[worker].told = false;
    worker_enter(c, worker, WORKER_GIVEN_UP);
}

static void give_up_silent(struct coordinator *c)
{
    while (c->busy.first != NOBODY && c->now - c->worker[c->busy.first].heard > c->options.silence)
        give_up(c, c->busy.first);
}

/* ---- handing out ---- */

static double held_cost(const struct coordinator *c, int worker)
{
    const struct slot *slot = slots_of(c, worker);
    double cost = 0;

    for (int i = 0; i < c->worker[worker].used; i++)
        if (slot[i].run != NOTHING)
            cost += c->queue.run[slot[i].run].cost;
    return cost;
}

/* Orders ahead, by the first rule at the top of this file. */
static void top_up(struct coordinator *c, int worker)
{
    struct worker *w = &c->worker[worker];

    while (w->state == WORKER_BUSY && w->used < c->slots && c->queue.waiting > 0 && !c->stopping) {
        double cost = c->queue.run[queue_front(&c->queue)].cost;
        double share = (c->queue.cost - cost) / c->max_workers;
        if (held_cost(c, worker) + cost > HELD_PART * share)
            return;
        give(c, worker, queue_take(&c->queue));
    }
}

/* The second rule: the latest order ahead goes from the worker that got it to an idle one. */
static void take_over(struct coordinator *c, int idle)
{
    int holder = c->holders.last;
    struct slot *slot = slots_of(c, holder);
    int at = c->worker[holder].used - 1;

    while (slot[at].run == NOTHING)
        at--;
    int64_t run = slot[at].run;
    slot[at].run = NOTHING;
    note_holder(c, holder);
    order_push(c, ORDER_STOP, holder, c->queue.run[run].cell, slot[at].ticket);
    give(c, idle, run);
}

static void hand_out(struct coordinator *c)
{
    while (!c->stopping && c->idle.first != NOBODY) {
        int worker = c->idle.first;
        if (c->queue.waiting > 0) {
            give(c, worker, queue_take(&c->queue));
            top_up(c, worker);
        } else if (c->holders.last != NOBODY) {
            take_over(c, worker);
        } else {
            return;
        }
    }
}

static void finish_if_done(struct coordinator *c)
{
    if (c->finished || c->busy.first != NOBODY || !(c->stopping || c->ended == c->queue.count))
        return;
    c->finished = true;
    for (int i = 0; i < c->max_workers; i++)
        if (c->worker[i].state != WORKER_ABSENT)
            order_push(c, ORDER_QUIT, i, NOTHING, 0);
    order_push(c, ORDER_FINISH, NOBODY, NOTHING, 0);
}

/* ---- events ---- */

static void handle_hello(struct coordinator *c, int worker)
{
    if (c->worker[worker].state != WORKER_ABSENT)
        lose(c, worker);
    if (c->finished)
        order_push(c, ORDER_QUIT, worker, NOTHING, 0);
    else
        worker_enter(c, worker, WORKER_IDLE);
}

static void heard_from(struct coordinator *c, int worker)
{
    struct worker *w = &c->worker[worker];

    w->heard = c->now;
    if (has_work(w->state)) {
        list_remove(c, &c->busy, worker);
        list_append(c, &c->busy, worker);
    } else if (w->state == WORKER_GIVEN_UP && !w->told) {
        w->told = true;
        order_push(c, ORDER_STOP, worker, NOTHING, 0);
    }
}

/* What becomes of the run in a slot that its worker has done with. */
static void settle(struct coordinator *c, int worker, const struct slot *slot, bool ended)
{
    if (slot->run == NOTHING)
        return;
    if (ended) {
        run_end(c, slot->run);
        order_push(c, ORDER_ACCEPT, worker, c->queue.run[slot->run].cell, slot->ticket);
        return;
    }
    order_push(c, ORDER_RETURN, worker, c->queue.run[slot->run].cell, slot->ticket);
    queue_return(&c->queue, slot->run);
    if (!c->stopping && c->worker[worker].state == WORKER_BUSY)
        worker_enter(c, worker, WORKER_LEAVING);
}

static void handle_result(struct coordinator *c, int worker, uint64_t ticket, bool ended)
{
    struct worker *w = &c->worker[worker];
    int at = slot_find(c, worker, ticket);

    heard_from(c, worker);
    if (at == NOTHING)
        return;
    struct slot slot = slots_of(c, worker)[at];
    slot_remove(c, worker, at);
    settle(c, worker, &slot, ended);
    if (w->used > 0)
        top_up(c, worker);
    else if (w->state == WORKER_LEAVING)
        worker_enter(c, worker, WORKER_LEFT);
    else
        worker_enter(c, worker, WORKER_IDLE);
    c->waits += w->state == WORKER_IDLE && c->queue.waiting > 0;
}

static void handle_stop(struct coordinator *c)
{
    if (c->stopping)
        return;
    c->stopping = true;
    for (int i = c->busy.first; i != NOBODY; i = c->worker[i].place.after)
        order_push(c, ORDER_STOP, i, NOTHING, 0);
}

void coordinator_handle(struct coordinator *c, const struct event *event)
{
    bool known = event->worker >= 0 && event->worker < c->max_workers;

    c->now = fmax(c->now, event->now);
    if (event->kind == EVENT_STOP)
        handle_stop(c);
    else if (known && event->kind == EVENT_HELLO)
        handle_hello(c, event->worker);
    else if (known && event->kind == EVENT_LOST)
        lose(c, event->worker);
    else if (known && event->kind == EVENT_PROGRESS)
        heard_from(c, event->worker);
    else if (known && event->kind == EVENT_RESULT)
        handle_result(c, event->worker, event->ticket, event->ended);
    give_up_silent(c);
    hand_out(c);
    finish_if_done(c);
}

int64_t coordinator_cell(const struct coordinator *c, int worker, uint64_t ticket)
{
    if (worker < 0 || worker >= c->max_workers)
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
        .workers = c->live,
        .idle = c->idle_count,
        .cost_left = c->cost_left,
        .waits = c->waits,
    };
}

/* ---- life ---- */

struct coordinator *coordinator_new(const int64_t *pending, const double *cost, int64_t count,
    int max_workers, const struct coordinator_options *options)
{
    struct coordinator *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->options = *options;
    c->max_workers = max_workers;
    c->slots = 1 + options->orders_ahead;
    c->order_size = 64;
    c->now = -INFINITY;
    c->idle = c->busy = c->holders = (struct list){NOBODY, NOBODY};
    c->worker = calloc((size_t)max_workers + 1, sizeof(*c->worker));
    c->slot = calloc((size_t)(max_workers + 1) * (size_t)c->slots, sizeof(*c->slot));
    c->order = malloc(c->order_size * sizeof(*c->order));
    if (queue_init(&c->queue, pending, cost, count) != 0 || !c->worker || !c->slot || !c->order) {
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
    free(c->worker);
    free(c->slot);
    free(c->order);
    free(c);
}
