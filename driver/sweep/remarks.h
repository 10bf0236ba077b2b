#ifndef NORMSWEEP_DRIVER_SWEEP_REMARKS_H
#define NORMSWEEP_DRIVER_SWEEP_REMARKS_H

#include <stdio.h>

#include "driver/sweep/sweep.h"

/* Prints a line for each thing in a valid sweep that is probably not meant: keys that no cell uses, steps
 * that decay weights by more than their size. */
void remarks_print(const struct sweep *sweep, FILE *out);

#endif
