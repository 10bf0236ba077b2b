#ifndef NORMSWEEP_DRIVER_OUTPUT_FOLDER_H
#define NORMSWEEP_DRIVER_OUTPUT_FOLDER_H

#include "model/core/error.h"

/* The folder beside an output, OUT.nc.d: checkpoints of unfinished runs, final weights, logs. */

/* The folder's path. The caller frees it; NULL: no memory. */
char *folder_of(const char *output);

/* The folder in it for states of shorter runs, likewise. */
char *folder_states(const char *output);

/*
 * For an output whose runs have all ended: removes their checkpoints and marks, and the logs of workers, from
 * any start of the program; keeps final weights, whole states for longer runs and the logs of failed runs.
 * Removes the folder if it is then empty. -1: ERROR_ENVIRONMENT.
 */
int folder_clear(const char *output, struct error *error);

/* Renames the folder after its output was renamed to OUT.nc.old; replaces an earlier OUT.nc.old.d. -1:
 * ERROR_ENVIRONMENT. */
int folder_set_aside(const char *output, struct error *error);

/*
 * Moves the files of runs, but not the states for longer ones, to the folder of the output `old`, which is
 * made if it does not exist; nothing without such files. If it was interrupted, it may be repeated. -1:
 * ERROR_ENVIRONMENT.
 */
int folder_move_runs(const char *output, const char *old, struct error *error);

#endif
