#ifndef NORMSWEEP_DRIVER_COMMANDS_ENDING_H
#define NORMSWEEP_DRIVER_COMMANDS_ENDING_H

#include "driver/output/journal.h"

/* How a `run` ended, for its log and for its --notify. */
struct ending {
    const char *script; /* of --notify; NULL: none */
    struct journal *journal; /* NULL: none */
    const char *output; /* the dataset, which need not exist; NULL: unknown */
    int status; /* the exit status */
    const char *message; /* the error, or "" */
    double seconds; /* since the start */
};

/*
 * Writes the last line of the log, and runs the script. Called once, by the process that the user has
 * started, or under another's mpirun by the coordinator, after the lease was given up: the dataset is as the
 * script will find it. Not after a second Ctrl-C, with which the user wants an end at once.
 */
void ending_tell(const struct ending *ending);

#endif
