#ifndef NORMSWEEP_WORKER_HOST_PROCESSORS_H
#define NORMSWEEP_WORKER_HOST_PROCESSORS_H

#include <stdint.h>

/*
 * The number of processors that this process may use: those it is bound to, or fewer if a control group
 * limits their time (a quota of 1.5 counts as 2). At least 1.
 */
int processors_count(void);

/*
 * Binds this process to its share of the processors that it may use, as worker `index` of `workers` on this
 * machine with `threads` each. Shares are contiguous: a processor per thread if that uses all processors, or
 * a whole core per thread if that uses all cores. Otherwise it does nothing: with spare cores, or too few of
 * them, the system places workers better.
 */
void processors_pin(int index, int workers, int64_t threads);

/* The place of a processor. Hyperthreads of one core have the same `core`: the least of their numbers. */
struct processor {
    int number, core, node;
};

/*
 * The share of processors_pin out of `count` processors, which it sorts. Returns the number of processors
 * from *first on; 0: do not bind.
 */
int processors_share(
    struct processor *processor, int count, int index, int workers, int64_t threads, int *first);

#endif
