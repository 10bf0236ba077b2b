#ifndef NORMSWEEP_DRIVER_RANKS_LAUNCHER_H
#define NORMSWEEP_DRIVER_RANKS_LAUNCHER_H

#include "driver/output/journal.h"
#include "driver/output/lease.h"
#include "driver/ranks/mpirun.h"
#include "model/core/error.h"

/* For the coordinator: how many of the ranks of a host are spares. */
#define SPARES_VARIABLE "NORMSWEEP_SPARES"

/* What is started. */
struct launch {
    struct lease *lease; /* held by this process */
    const char *output; /* the dataset, for messages */
    const struct mpirun *mpirun; /* from mpirun_find */
    int argc; /* the ranks' command line; argv[0] is the command's name */
    char **argv;
    int workers; /* besides a coordinator; 0: as many as the allocation has */
    int spares; /* that each host starts besides its workers */
    struct journal *journal; /* NULL: there is no log */
};

/*
 * Runs this program's command line under mpirun and supervises it: copies its output, forwards signals as
 * SIGUSR1, ends it if it hangs, and restarts it if the coordinator or all workers are lost, up to three times
 * in a row without a result or checkpoint in between. Returns the coordinator's exit status,
 * STATUS_INTERRUPTED after a second SIGINT, or -1 with a message in error. With a status of an error, the
 * last line that the ranks printed, which is on stderr already, is in error, too.
 */
int launcher_run(const struct launch *launch, struct error *error);

#endif
