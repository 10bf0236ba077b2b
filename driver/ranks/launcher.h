#ifndef NORMSWEEP_DRIVER_RANKS_LAUNCHER_H
#define NORMSWEEP_DRIVER_RANKS_LAUNCHER_H

#include <stdbool.h>

#include "driver/output/lease.h"
#include "driver/ranks/mpirun.h"
#include "model/core/error.h"

/*
 * Runs this program's command line (argv[0] is the command's name) under mpirun, with `workers` workers (0:
 * as many as the allocation has) and a coordinator, and supervises it: copies its output, forwards signals as
 * SIGUSR1, ends it if it hangs, and restarts it if the coordinator or all workers are lost, up to three times
 * in a row without a result or checkpoint in between. `output`: the dataset, for messages. Returns the
 * coordinator's exit status, STATUS_INTERRUPTED after a second SIGINT, or -1 with a message in error.
 */
int launcher_run(struct lease *lease, const char *output, const struct mpirun *mpirun, int argc, char **argv,
    int workers, struct error *error);

#endif
