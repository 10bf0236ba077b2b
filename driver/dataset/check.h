#ifndef NORMSWEEP_DRIVER_DATASET_CHECK_H
#define NORMSWEEP_DRIVER_DATASET_CHECK_H

#include "driver/dataset/layout.h"

/*
 * Is there a whole CDF-5 file at a path, all of whose variables lie within it, or else a netCDF-4 file, which
 * only the netCDF library can judge? Then 0, its length and which of the two it is; else -1 with ERROR_INPUT.
 */
int layout_check_file(const char *path, int64_t *bytes, bool *netcdf4, struct error *error);

/* The same check; then the extents of the file's variables, by netCDF's ids. The caller's to free; NULL:
 * error. */
struct extent *layout_extents(const char *path, struct error *error);

#endif
