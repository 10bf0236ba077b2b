#ifndef NORMSWEEP_DRIVER_DATASET_CHECK_H
#define NORMSWEEP_DRIVER_DATASET_CHECK_H

#include "driver/dataset/layout.h"

/*
 * Checks that a path is a complete CDF-5 file, which contains all its variables, or a netCDF-4 file, which
 * only the netCDF library can check. Sets its length and *netcdf4. On failure -1 with ERROR_INPUT.
 */
int layout_check_file(const char *path, int64_t *bytes, bool *netcdf4, struct error *error);

/* Checks a CDF-5 file likewise and returns the extents of its variables, indexed by netCDF id. The caller
 * frees them; NULL with the error set. */
struct extent *layout_extents(const char *path, struct error *error);

#endif
