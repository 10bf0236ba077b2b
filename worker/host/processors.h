#ifndef NORMSWEEP_WORKER_HOST_PROCESSORS_H
#define NORMSWEEP_WORKER_HOST_PROCESSORS_H

#include <stdint.h>

/*
 * The processors that this process may use: those it is bound to, or fewer where a control group grants it
 * less of their time (1.5 of them are 2). At least 1.
 */
int processors_count(void);

/* Is it bound to fewer than the machine has? By a batch system, say, or an mpirun. */
int processors_bound(void);

/*
 * Binds this process to its share of the processors that it may use, as worker `index` of `workers` on this
 * machine with `threads` each, neighbours together: a processor for each thread where that uses them all, a
 * whole core where that uses all cores and their processors come in twos or more. Otherwise it does nothing:
 * with cores left over the system places workers better, next to whatever else runs, and with too few as
 * well.
 */
void processors_pin(int index, int workers, int64_t threads);

/* Where a processor is. Those of one core (hyperthreads) have the core in common, by the least of them. */
struct processor {
    int number, core, node;
};

/* The share of processors_pin out of `count`, which it brings into order: returns how many it is, from *first
 * on; 0: none. */
int processors_share(
    struct processor *processor, int count, int index, int workers, int64_t threads, int *first);

#endif
