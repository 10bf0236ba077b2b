#ifndef NORMSWEEP_DRIVER_RANKS_LAUNCHER_H
#define NORMSWEEP_DRIVER_RANKS_LAUNCHER_H

#include <stdbool.h>

#include "driver/output/lease.h"
#include "model/core/error.h"

/* The number of this process among the ranks that mpirun or srun has started; -1: it is none of them. */
int launcher_rank(void);

/* Root without the two variables that Open MPI asks of it: -1 and the line that names them. */
int launcher_check_root(struct error *error);

/* The release of Open MPI on the PATH; 0: another MPI; -1 with the line: there is no mpirun. */
int launcher_find(struct error *error);

/*
 * Runs this program's command line (argv[0] the command's name) once more under mpirun, with `workers`
 * workers and a coordinator (`release`: what launcher_find found), and watches over it: passes on what it
 * says, turns signals into its SIGUSR1, ends it when it cannot end by itself, and starts it again when it has
 * lost its coordinator or all of its workers, up to three times without a result or checkpoint in between.
 * `output`: the dataset, for messages. Returns the coordinator's exit
 * status, STATUS_INTERRUPTED after a second SIGINT, or -1 with the line in error.
 */
int launcher_run(struct lease *lease, const char *output, int release, int argc, char **argv, int workers,
    struct error *error);

#endif
