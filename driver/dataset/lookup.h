#ifndef NORMSWEEP_DRIVER_DATASET_LOOKUP_H
#define NORMSWEEP_DRIVER_DATASET_LOOKUP_H

#include <netcdf.h>
#include <stdbool.h>

/*
 * These find a part of an open netCDF file by its name, as the library's functions do; but they tell a name
 * that is not there from one that the library could not look up for lack of memory. Each returns a netCDF
 * status, and stores a result only with NC_NOERR.
 */
int lookup_variable(int file, const char *name, int *variable);
/* Is there such a variable? One that cannot be looked up does not pass for missing: reading it says why. */
bool lookup_has_variable(int file, const char *name);
int lookup_dimension(int file, const char *name, int *dimension);
/* `type` and `length` may be NULL. */
int lookup_attribute(int file, int variable, const char *name, nc_type *type, size_t *length);

/* The errno of a netCDF status with which an attribute that is there could not be read; 0: its value does not
 * fit. */
int lookup_cause(int status);

#endif
