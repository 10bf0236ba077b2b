#ifndef NORMSWEEP_DRIVER_COMMANDS_ANNOUNCE_H
#define NORMSWEEP_DRIVER_COMMANDS_ANNOUNCE_H

#include <stdbool.h>

#include "driver/sweep/sweep.h"

/*
 * Says in one line on stdout what a sweep is about to train with: workers (0: as many as an allocation has),
 * threads, BLAS kernel, vector level; and where these are more threads than processors. `here`: all workers
 * share the processors of this process; otherwise each has as many as this one.
 */
void announce(const struct sweep *sweep, int workers, bool here);

#endif
