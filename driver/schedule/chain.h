#ifndef NORMSWEEP_DRIVER_SCHEDULE_CHAIN_H
#define NORMSWEEP_DRIVER_SCHEDULE_CHAIN_H

#include <stdbool.h>

/* A doubly linked list of some of the workers 0 .. size - 1, each at most once: appends and removals are
 * O(1). */
struct chain {
    int size;
    int first, last; /* CHAIN_END: the chain is empty */
    struct chain_link *link; /* [size] */
};

enum { CHAIN_END = -1 };

/* -1: no memory; chain_release is still allowed. */
int chain_init(struct chain *chain, int size);
void chain_release(struct chain *chain);

/* No effect if the worker is already in the chain, or not in it. */
void chain_append(struct chain *chain, int worker);
void chain_remove(struct chain *chain, int worker);

#endif
