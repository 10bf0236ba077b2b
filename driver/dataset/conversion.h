#ifndef NORMSWEEP_DRIVER_DATASET_CONVERSION_H
#define NORMSWEEP_DRIVER_DATASET_CONVERSION_H

#include <stdbool.h>

/*
 * Commands that turn a dataset into a compressed netCDF-4 copy and such a copy back into a dataset, quoted
 * for a shell. The caller's to free; NULL: no memory.
 */

/* nccopy -4 -d 5 -s first.nc first-small.nc */
char *conversion_to_copy(const char *path);

/* nccopy -k cdf5 first-small.nc first-small-cdf5.nc; `carry_on`: and what is then given to run. */
char *conversion_back(const char *path, bool carry_on);

#endif
