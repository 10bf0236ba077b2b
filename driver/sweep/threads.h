#ifndef NORMSWEEP_DRIVER_SWEEP_THREADS_H
#define NORMSWEEP_DRIVER_SWEEP_THREADS_H

#include "driver/sweep/sweep.h"

/* The least and the largest number of threads that a run of a sweep has. */
struct threads {
    int64_t least, most;
};

struct threads threads_of(const struct sweep *sweep);

/* The number of workers that can run on this process's processors, one processor for each thread; at least 1.
 */
int threads_workers(const struct sweep *sweep);

#endif
