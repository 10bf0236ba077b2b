#ifndef NORMSWEEP_DRIVER_DATASET_CONVERSION_H
#define NORMSWEEP_DRIVER_DATASET_CONVERSION_H

#include <stdbool.h>

/*
 * Shell commands that convert a dataset to a compressed netCDF-4 copy, and such a copy back to a dataset. The
 * caller frees them; NULL: no memory.
 */

/* nccopy -4 -d 5 -s first.nc first-small.nc */
char *conversion_to_copy(const char *path);

/* nccopy -k cdf5 first-small.nc first-small-cdf5.nc; with `carry_on` also ", then run with -o ...". */
char *conversion_back(const char *path, bool carry_on);

#endif
