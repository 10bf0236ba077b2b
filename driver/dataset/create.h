#ifndef NORMSWEEP_DRIVER_DATASET_CREATE_H
#define NORMSWEEP_DRIVER_DATASET_CREATE_H

#include "driver/dataset/layout.h"

/*
 * Writes a whole new file to `path`: header, coordinates, fill; every cell pending or skipped. Returns a
 * netCDF status; the file is closed and not synced.
 */
int layout_write(const struct layout *layout, const char *path);

/* The header alone, at the length of the whole file. Returns a netCDF status. */
int layout_write_header(const struct layout *layout, const char *path);

/* Lays the file out in memory, without its values, and sets `bytes`. */
void layout_measure(struct layout *layout);

/* Bytes that the dataset of a sweep will take, exactly; NaN where they cannot be told. */
double dataset_size(const struct sweep *sweep, const struct corpus *corpus);

#endif
