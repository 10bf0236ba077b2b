#ifndef NORMSWEEP_DRIVER_RANKS_LAUNCHER_H
#define NORMSWEEP_DRIVER_RANKS_LAUNCHER_H

#include <stdbool.h>

#include "driver/output/lease.h"
#include "model/core/error.h"

/*
 * Runs this program's command line (argv[0] the command's name) once more under mpirun, with `workers`
 * workers and a coordinator (`release`: what mpirun_find found), and watches over it: passes on what it
 * says, turns signals into its SIGUSR1, ends it when it cannot end by itself, and starts it again when it has
 * lost its coordinator or all of its workers, up to three times without a result or checkpoint in between.
 * `output`: the dataset, for messages. Returns the coordinator's exit
 * status, STATUS_INTERRUPTED after a second SIGINT, or -1 with the line in error.
 */
int launcher_run(struct lease *lease, const char *output, int release, int argc, char **argv, int workers,
    struct error *error);

#endif
