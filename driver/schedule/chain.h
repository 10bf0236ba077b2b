#ifndef NORMSWEEP_DRIVER_SCHEDULE_CHAIN_H
#define NORMSWEEP_DRIVER_SCHEDULE_CHAIN_H

#include <stdbool.h>

/* Some of the workers 0 .. size - 1 in a row, each at most once: added at its end, taken from anywhere, O(1).
 */
struct chain {
    int first, last; /* CHAIN_END: it is empty */
    struct chain_link *link; /* [size] */
};

enum { CHAIN_END = -1 };

/* -1: no memory; it can be released all the same. */
int chain_init(struct chain *chain, int size);
void chain_release(struct chain *chain);

/* Nothing happens when the worker is in the chain, or is not in it. */
void chain_append(struct chain *chain, int worker);
void chain_remove(struct chain *chain, int worker);

#endif
