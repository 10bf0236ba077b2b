#ifndef NORMSWEEP_DRIVER_SWEEP_TOGETHER_H
#define NORMSWEEP_DRIVER_SWEEP_TOGETHER_H

#include "driver/sweep/reader.h"

/* Reads `together: {axis: {label: {key: value}}}`: each axis becomes one of the sweep's, in order. */
int together_read(struct reader *reader, const struct node *node);

#endif
