#include "driver/schedule/inside.h"
#include "model/core/check.h"

#include <stdlib.h>

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
