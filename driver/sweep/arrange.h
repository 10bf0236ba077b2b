#ifndef NORMSWEEP_DRIVER_SWEEP_ARRANGE_H
#define NORMSWEEP_DRIVER_SWEEP_ARRANGE_H

#include "driver/sweep/sweep.h"

/*
 * Gives the values of a plain axis another order: at place i is then what was at place from[i], in which each
 * place occurs once. Cells that are skipped move with their values. -1: no memory, nothing has changed.
 */
int sweep_arrange(struct sweep *sweep, int64_t axis, const int64_t *from);

#endif
