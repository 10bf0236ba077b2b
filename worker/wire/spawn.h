#ifndef NORMSWEEP_WORKER_WIRE_SPAWN_H
#define NORMSWEEP_WORKER_WIRE_SPAWN_H

#include <mpi.h>

#include "worker/wire/message.h"

/*
 * One MPI_Comm_spawn in a thread of its own: it takes a third of a second, and may never come back when ranks
 * have died; the thread is then left behind.
 */
struct spawn;

/* NULL: no memory, or no thread. The arguments are copied. */
struct spawn *spawn_begin(const char *host, char **argument);

/* SPAWN_UNDER_WAY, SPAWN_DONE or SPAWN_FAILED. */
enum wire_spawned spawn_state(const struct spawn *spawn);

/* The communicator with the new process, MPI_COMM_NULL where it failed; frees the spawn, which has ended. */
MPI_Comm spawn_take(struct spawn *spawn);

/* Takes NULL; one that is under way is left behind. */
void spawn_free(struct spawn *spawn);

#endif
