#include "driver/schedule/chain.h"

#include <stdlib.h>

struct chain_link {
    int before, after;
    bool in;
};

int chain_init(struct chain *chain, int size)
{
    *chain = (struct chain){CHAIN_END, CHAIN_END, calloc((size_t)size + 1, sizeof(*chain->link))};
    return chain->link ? 0 : -1;
}

void chain_release(struct chain *chain)
{
    free(chain->link);
    *chain = (struct chain){CHAIN_END, CHAIN_END, NULL};
}

void chain_append(struct chain *chain, int worker)
{
    if (chain->link[worker].in)
        return;
    chain->link[worker] = (struct chain_link){chain->last, CHAIN_END, true};
    *(chain->last == CHAIN_END ? &chain->first : &chain->link[chain->last].after) = worker;
    chain->last = worker;
}

void chain_remove(struct chain *chain, int worker)
{
    struct chain_link link = chain->link[worker];

    if (!link.in)
        return;
    *(link.before == CHAIN_END ? &chain->first : &chain->link[link.before].after) = link.after;
    *(link.after == CHAIN_END ? &chain->last : &chain->link[link.after].before) = link.before;
    chain->link[worker].in = false;
}
