#ifndef NORMSWEEP_WORKER_WIRE_SPAWN_H
#define NORMSWEEP_WORKER_WIRE_SPAWN_H

#include <mpi.h>

#include "worker/wire/message.h"

/*
 * One MPI_Comm_spawn in its own thread: the call takes a third of a second, and may never return if ranks
 * have died; the thread is then abandoned.
 */
struct spawn;

/* Starts the thread; copies the arguments. NULL without memory or a thread. */
struct spawn *spawn_begin(const char *host, char **argument);

/* SPAWN_UNDER_WAY, SPAWN_DONE or SPAWN_FAILED. */
enum wire_spawned spawn_state(const struct spawn *spawn);

/* Returns the communicator with the new process, MPI_COMM_NULL on failure. Frees the spawn, which must have
 * ended. */
MPI_Comm spawn_take(struct spawn *spawn);

/* Frees a spawn, or NULL; abandons one that is under way. */
void spawn_free(struct spawn *spawn);

#endif
