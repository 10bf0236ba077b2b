#ifndef NORMSWEEP_DRIVER_OUTPUT_FOLDER_H
#define NORMSWEEP_DRIVER_OUTPUT_FOLDER_H

#include "model/core/error.h"

/* The folder beside an output, OUT.nc.d: checkpoints of runs that are under way, final weights, logs. */

/* Its path, allocated, the caller's to free; NULL: no memory. */
char *folder_of(const char *output);

/*
 * Where all runs of the output have ended: removes what is left of them, by whomever; not final weights, nor
 * what the workers of failed runs had to say. Removes the folder where nothing is left in it. -1:
 * ERROR_ENVIRONMENT.
 */
int folder_clear(const char *output, struct error *error);

/* The output's file has become OUT.nc.old: so does its folder, in the place of an earlier one. -1:
 * ERROR_ENVIRONMENT. */
int folder_set_aside(const char *output, struct error *error);

#endif
