#ifndef NORMSWEEP_DRIVER_SWEEP_SKIP_H
#define NORMSWEEP_DRIVER_SWEEP_SKIP_H

#include "driver/sweep/reader.h"

/* Reads `skip: [{key: value}]` and marks the cells to skip. Call it after all axes have been read. */
int skip_read(struct reader *reader, const struct node *node);

#endif
