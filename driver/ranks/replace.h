#ifndef NORMSWEEP_DRIVER_RANKS_REPLACE_H
#define NORMSWEEP_DRIVER_RANKS_REPLACE_H

#include "driver/ranks/peers.h"

/*
 * Replaces dead workers by new processes with MPI_Comm_spawn, which works under mpirun --enable-recovery.
 * After the first failure no more are tried, and the number of workers shrinks.
 */
struct replacements {
    struct wire *wire; /* borrowed */
    char *
        *argument; /* the program's path and its arguments, ends with NULL; borrowed. NULL: no replacements */
    int worker; /* the worker that is being replaced; -1: none */
    double begun;
    int vain; /* processes in a row that never became ready */
};

void replacements_init(struct replacements *replacements, struct wire *wire, char **argument);

/* Can a replacement be started? Not while one is under way, and not after too many that never became
 * ready. */
bool replacements_ready(const struct replacements *replacements);

/* Starts a replacement for a dead worker. */
void replacements_begin(struct replacements *replacements, const struct peers *peers, int worker, double now);

/* Checks the replacement that is under way. True: it has finished; *worker has a new address, or still its
 * old one if there is no process for it. */
bool replacements_look(struct replacements *replacements, struct peers *peers, int *worker, double now);

#endif
