/*
 * The containers of the coordinator, which know nothing of runs: a queue of orders, and chains of workers.
 * coordinator.c fills the queue and empties it; pool.c chains the idle workers, slots.c those that hold a run
 * ahead.
 *
 * Only orders_push allocates after a container was made, and aborts without memory: a coordinator that has
 * lost an order would wait for its answer forever, and the sweep goes on after the death of any process.
 */
#include "driver/schedule/inside.h"
#include "model/core/check.h"

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
