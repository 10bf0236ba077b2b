#ifndef NORMSWEEP_DRIVER_SWEEP_CONSISTENT_H
#define NORMSWEEP_DRIVER_SWEEP_CONSISTENT_H

#include "driver/sweep/reader.h"

/* Checks what no key of a sweep can say alone: keys that the corpus does not take, and every cell that is not
 * left out. */
int consistent_check(struct reader *reader);

#endif
