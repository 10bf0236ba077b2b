#ifndef NORMSWEEP_DRIVER_SWEEP_SKIP_H
#define NORMSWEEP_DRIVER_SWEEP_SKIP_H

#include "driver/sweep/reader.h"

/* Reads `skip: [{key: value}]` once every axis is known, and marks the cells that it leaves out. */
int skip_read(struct reader *reader, const struct node *node);

#endif
