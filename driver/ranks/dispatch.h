#ifndef NORMSWEEP_DRIVER_RANKS_DISPATCH_H
#define NORMSWEEP_DRIVER_RANKS_DISPATCH_H

#include "driver/job/job.h"
#include "driver/ranks/peers.h"
#include "worker/wire/message.h"

/* The state of the other ranks at the end. */
struct dispatch_end {
    bool together; /* all ranks are alive, so MPI_Finalize is safe */
    bool abandoned; /* no worker is left */
};

/*
 * Runs a job on the assigned ranks behind the wire: their messages become the coordinator's events, its
 * orders become messages and writes. Returns when every run has ended, a signal has stopped all, or the job
 * has failed; by then every rank has been told to quit.
 */
struct dispatch_end dispatch_run(struct job *job, struct wire *wire, struct peers *peers);

/* Tells every rank to quit if no job was begun. */
void dispatch_dismiss(struct wire *wire);

#endif
