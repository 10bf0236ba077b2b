#ifndef NORMSWEEP_WORKER_WIRE_LOOP_H
#define NORMSWEEP_WORKER_WIRE_LOOP_H

#include "worker/wire/message.h"

/*
 * A worker's life: says hello, is set up, trains what it is ordered to and reports, until it is told to quit.
 * Closes the wire. Returns the exit status of the process, or leaves by _exit where MPI cannot be ended.
 */
int worker_loop(struct wire *wire);

#endif
