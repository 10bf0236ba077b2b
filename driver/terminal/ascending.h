#ifndef NORMSWEEP_DRIVER_TERMINAL_ASCENDING_H
#define NORMSWEEP_DRIVER_TERMINAL_ASCENDING_H

#include <stdint.h>

/* Sorts numbers, none of which is NaN, the smallest first. */
void ascending_sort(double *number, int64_t count);

#endif
