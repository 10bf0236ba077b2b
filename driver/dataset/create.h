#ifndef NORMSWEEP_DRIVER_DATASET_CREATE_H
#define NORMSWEEP_DRIVER_DATASET_CREATE_H

#include "driver/dataset/layout.h"

/*
 * Writes a complete new file to `path`: header, coordinates and fill values; every cell is pending or
 * skipped. Returns a netCDF status; the file is closed but not synced.
 */
int layout_write(const struct layout *layout, const char *path);

enum { LAYOUT_PATH = 64 };

/* Lays the file out in memory, without values. A descriptor, which the caller closes, and the path at which
 * the file can be opened meanwhile; -1: it cannot be done. */
int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH]);

/* Sets `bytes` by laying the file out in memory, without values. */
void layout_measure(struct layout *layout);

/* The exact size in bytes of a sweep's dataset; NaN: unknown. */
double dataset_size(const struct sweep *sweep, const struct corpus *corpus);

#endif
