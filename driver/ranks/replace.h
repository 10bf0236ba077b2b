#ifndef NORMSWEEP_DRIVER_RANKS_REPLACE_H
#define NORMSWEEP_DRIVER_RANKS_REPLACE_H

#include "driver/ranks/peers.h"

/*
 * New processes in the place of dead workers: MPI_Comm_spawn, which works below mpirun --enable-recovery.
 * Where it does not, the pool shrinks: once is enough to know.
 */
struct replacements {
    struct wire *wire; /* borrowed */
    char **argument; /* the program's path and its arguments, ends with NULL; borrowed. NULL: none are made */
    int worker; /* whose place the process that is under way takes; -1: none is */
    double begun;
    int vain; /* those in succession that never got ready */
};

void replacements_init(struct replacements *replacements, struct wire *wire, char **argument);

/* Can another one be begun? Not while one is under way, nor after too many in vain. */
bool replacements_ready(const struct replacements *replacements);

/* Begins one for a dead worker. */
void replacements_begin(struct replacements *replacements, const struct peers *peers, int worker, double now);

/* Looks after the one that is under way; true: it has come to an end, and *worker has its process, or (its
 * address unchanged) has none. */
bool replacements_look(struct replacements *replacements, struct peers *peers, int *worker, double now);

#endif
