#ifndef NORMSWEEP_DRIVER_TABLES_MAGIC_H
#define NORMSWEEP_DRIVER_TABLES_MAGIC_H

#include <stdbool.h>

/* Does the path name a regular file that starts like a netCDF file? False if it cannot be read. */
bool magic_is_netcdf(const char *path);

#endif
