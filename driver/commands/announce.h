#ifndef NORMSWEEP_DRIVER_COMMANDS_ANNOUNCE_H
#define NORMSWEEP_DRIVER_COMMANDS_ANNOUNCE_H

#include <stdbool.h>

#include "driver/sweep/sweep.h"

/*
 * Prints one line on stdout about how a sweep will train: workers (0: as many as the allocation has),
 * threads, BLAS kernel, vector level, and a warning if there are more threads than processors. `here`: all
 * workers share the processors of this process; otherwise each worker has as many as this process. Then the
 * remarks on the sweep, on stderr.
 */
void announce(const struct sweep *sweep, int workers, bool here);

#endif
