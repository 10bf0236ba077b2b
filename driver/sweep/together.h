#ifndef NORMSWEEP_DRIVER_SWEEP_TOGETHER_H
#define NORMSWEEP_DRIVER_SWEEP_TOGETHER_H

#include "driver/sweep/reader.h"

/* Reads `together: {axis: {label: {key: value}}}` and adds each axis to the sweep, in order. */
int together_read(struct reader *reader, const struct node *node);

#endif
