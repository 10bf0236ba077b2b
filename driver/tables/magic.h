#ifndef NORMSWEEP_DRIVER_TABLES_MAGIC_H
#define NORMSWEEP_DRIVER_TABLES_MAGIC_H

#include <stdbool.h>

/* Is there a plain file at a path that begins as netCDF files do? What cannot be read does not. */
bool magic_is_netcdf(const char *path);

#endif
