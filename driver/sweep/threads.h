#ifndef NORMSWEEP_DRIVER_SWEEP_THREADS_H
#define NORMSWEEP_DRIVER_SWEEP_THREADS_H

#include "driver/sweep/sweep.h"

/* The threads of a sweep's runs, from the fewest to the most. */
struct threads {
    int64_t least, most;
};

struct threads threads_of(const struct sweep *sweep);

/* How many workers of a sweep the processors of this process have threads for; at least 1. */
int threads_workers(const struct sweep *sweep);

#endif
