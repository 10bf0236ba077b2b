#ifndef NORMSWEEP_DRIVER_RANKS_DISPATCH_H
#define NORMSWEEP_DRIVER_RANKS_DISPATCH_H

#include "driver/job/job.h"
#include "worker/wire/message.h"

/* What was learned about the other ranks. */
struct dispatch_end {
    bool together; /* all ranks live: MPI can be ended as it should be */
    bool abandoned; /* no worker was left */
};

/*
 * Runs a job on the ranks behind the wire: their messages become the coordinator's events, its orders become
 * messages and writes. Returns when every run has ended, when a signal has stopped all, or when the job has
 * failed; every rank has then been told to quit. `argument`: the program's path and its arguments, for the
 * processes that take the places of dead workers; ends with NULL.
 */
struct dispatch_end dispatch_run(struct job *job, struct wire *wire, char **argument);

/* Tells every rank to quit before any job was begun. */
void dispatch_dismiss(struct wire *wire);

#endif
