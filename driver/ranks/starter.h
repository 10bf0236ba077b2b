#ifndef NORMSWEEP_DRIVER_RANKS_STARTER_H
#define NORMSWEEP_DRIVER_RANKS_STARTER_H

#include "model/core/error.h"

/* What has started this process as one of several ranks: mpirun, mpiexec or srun, known by the variables that
 * each of them sets. */
struct starter {
    int rank; /* -1: this process was started plainly */
    int size; /* the number of processes that were started; 0: unknown */
    const char *variable; /* the variable with the rank; NULL: started plainly */
};

struct starter starter_find(void);

/* The rank of this process; -1: it was started plainly. */
int starter_rank(void);

/*
 * MPI says that this process has `size` ranks around it. -1 with a message in error: the starter has started
 * more, which MPI does not connect, as they are of another MPI. Each would train the whole sweep.
 */
int starter_check(const struct starter *starter, int size, struct error *error);

#endif
