/*
 * The containers of the coordinator, which know nothing of runs: a queue of orders, chains of workers, and
 * the deadlines of workers. assignment.c fills the queue and coordinator.c empties it; pool.c chains the idle
 * workers and keeps their deadlines; slots.c chains those that hold a run ahead.
 *
 * Only orders_push allocates after a container was made, and aborts without memory: a coordinator that has
 * lost an order would wait for its answer forever, and the sweep goes on after the death of any process.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- orders ---- */

int orders_init(struct orders *orders)
{
    *orders = (struct orders){.size = 64};
    orders->order = malloc(orders->size * sizeof(*orders->order));
    return orders->order ? 0 : -1;
}

void orders_release(struct orders *orders)
{
    free(orders->order);
    *orders = (struct orders){0};
}

void orders_push(struct orders *orders, struct order order)
{
    INVARIANT(orders->first <= orders->end && orders->end <= orders->size, "%zu to %zu of %zu", orders->first,
        orders->end, orders->size);
    if (orders->end == orders->size) {
        orders->size *= 2;
        orders->order = realloc(orders->order, orders->size * sizeof(*orders->order));
        if (!orders->order)
            abort();
    }
    orders->order[orders->end++] = order;
}

bool orders_take(struct orders *orders, struct order *order)
{
    INVARIANT(orders->first <= orders->end, "%zu to %zu", orders->first, orders->end);
    if (orders->first == orders->end) {
        orders->first = orders->end = 0;
        return false;
    }
    *order = orders->order[orders->first++];
    return true;
}

/* ---- chains ---- */

struct chain_link {
    int before, after;
    bool in;
};

int chain_init(struct chain *chain, int size)
{
    *chain = (struct chain){size, CHAIN_END, CHAIN_END, calloc((size_t)size + 1, sizeof(*chain->link))};
    return chain->link ? 0 : -1;
}

void chain_release(struct chain *chain)
{
    free(chain->link);
    *chain = (struct chain){0, CHAIN_END, CHAIN_END, NULL};
}

void chain_append(struct chain *chain, int worker)
{
    INVARIANT(worker >= 0 && worker < chain->size, "worker %d of %d", worker, chain->size);
    if (chain->link[worker].in)
        return;
    int *end = chain->last == CHAIN_END ? &chain->first : &chain->link[chain->last].after;
    INVARIANT(*end == CHAIN_END, "%d is behind the last, %d", *end, chain->last);
    *end = worker;
    chain->link[worker] = (struct chain_link){chain->last, CHAIN_END, true};
    chain->last = worker;
}

void chain_remove(struct chain *chain, int worker)
{
    INVARIANT(worker >= 0 && worker < chain->size, "worker %d of %d", worker, chain->size);
    struct chain_link link = chain->link[worker];
    if (!link.in)
        return;
    int *to = link.before == CHAIN_END ? &chain->first : &chain->link[link.before].after;
    int *back = link.after == CHAIN_END ? &chain->last : &chain->link[link.after].before;
    INVARIANT(*to == worker && *back == worker, "worker %d, but %d and %d", worker, *to, *back);
    *to = link.after;
    *back = link.before;
    chain->link[worker].in = false;
}

/* ---- deadlines ---- */

/* `known` is never later than the worker's true deadline. */
struct deadline_entry {
    double known;
    int worker;
};

int deadlines_init(struct deadlines *d, int size)
{
    size_t room = (size_t)size + 1;

    *d = (struct deadlines){
        .size = size,
        .heap = malloc(room * sizeof(*d->heap)),
        .due = malloc(room * sizeof(*d->due)),
        .place = malloc(room * sizeof(*d->place)),
    };
    if (!d->heap || !d->due || !d->place)
        return -1;
    for (int i = 0; i < size; i++) {
        d->due[i] = INFINITY;
        d->place[i] = DEADLINE_NONE;
    }
    return 0;
}

void deadlines_release(struct deadlines *d)
{
    free(d->heap);
    free(d->due);
    free(d->place);
    *d = (struct deadlines){0};
}

static void put_entry(struct deadlines *d, int at, struct deadline_entry entry)
{
    d->heap[at] = entry;
    d->place[entry.worker] = at;
}

static void sift_up(struct deadlines *d, int at, struct deadline_entry entry)
{
    for (; at > 0 && entry.known < d->heap[(at - 1) / 2].known; at = (at - 1) / 2)
        put_entry(d, at, d->heap[(at - 1) / 2]);
    put_entry(d, at, entry);
}

static void sift_down(struct deadlines *d, int at, struct deadline_entry entry)
{
    for (int child = 2 * at + 1; child < d->count; child = 2 * at + 1) {
        child += child + 1 < d->count && d->heap[child + 1].known < d->heap[child].known;
        if (entry.known <= d->heap[child].known)
            break;
        put_entry(d, at, d->heap[child]);
        at = child;
    }
    put_entry(d, at, entry);
}

void deadline_set(struct deadlines *d, int worker, double due)
{
    INVARIANT(worker >= 0 && worker < d->size, "worker %d of %d", worker, d->size);
    int at = d->place[worker];
    INVARIANT(at == DEADLINE_NONE || (at < d->count && d->heap[at].worker == worker), "worker %d at %d of %d",
        worker, at, d->count);
    INVARIANT(!isnan(due), "worker %d", worker);
    d->due[worker] = due;
    if (at == DEADLINE_NONE && due < INFINITY)
        sift_up(d, d->count++, (struct deadline_entry){due, worker});
    else if (at != DEADLINE_NONE && due < d->heap[at].known)
        sift_up(d, at, (struct deadline_entry){due, worker});
}

int deadline_passed(struct deadlines *d, double now)
{
    while (d->count > 0 && d->heap[0].known < now) {
        int worker = d->heap[0].worker;
        INVARIANT(d->heap[0].known <= d->due[worker] || d->due[worker] == INFINITY,
            "worker %d is due at %g, not %g", worker, d->due[worker], d->heap[0].known);
        double due = d->due[worker];
        if (due >= now && due < INFINITY) {
            sift_down(d, 0, (struct deadline_entry){due, worker});
            continue;
        }
        INVARIANT(d->place[worker] == 0, "the first worker, %d, is at %d", worker, d->place[worker]);
        d->place[worker] = DEADLINE_NONE;
        d->count--;
        if (d->count > 0)
            sift_down(d, 0, d->heap[d->count]);
        d->due[worker] = INFINITY;
        if (due < now)
            return worker;
    }
    return DEADLINE_NONE;
}
