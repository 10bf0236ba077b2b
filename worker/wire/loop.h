#ifndef NORMSWEEP_WORKER_WIRE_LOOP_H
#define NORMSWEEP_WORKER_WIRE_LOOP_H

#include "worker/wire/message.h"

/*
 * The loop of a worker: says hello, receives its setup, trains the runs that it is ordered to, and reports,
 * until it is told to quit. Closes the wire. Returns the exit status of the process, or calls _exit if MPI
 * cannot be finalised.
 */
int worker_loop(struct wire *wire);

#endif
