#ifndef NORMSWEEP_DRIVER_RANKS_STARTER_H
#define NORMSWEEP_DRIVER_RANKS_STARTER_H

#include "model/core/error.h"

#include <stdbool.h>

/* What has started this process as one of several ranks: mpirun, mpiexec or srun, known by the variables that
 * each of them sets. */
struct starter {
    int rank; /* -1: this process was started plainly */
    int size; /* the number of processes that were started; 0: unknown */
    const char *variable; /* the variable with the rank; NULL: started plainly */
    bool hopeless; /* MPI would end this process with pages of text, because srun was told of no MPI */
};

struct starter starter_find(void);

/* The rank of this process; -1: it was started plainly. */
int starter_rank(void);

/*
 * MPI says that there are `size` ranks, 1 if it was not asked. -1 with a message in error: the starter has
 * started more, which MPI does not connect, as they are of another MPI. Each would train the whole sweep.
 */
int starter_check(const struct starter *starter, int size, struct error *error);

/* Says on stderr that `asked` workers (-j; not positive: none were asked for) are not what the starter has
 * decided on, perhaps long ago, before the shell in which this process runs. */
void starter_warn_of_jobs(const char *output, int asked, int workers);

/* Says on stderr why `asked` spares (--spares; not positive: none were asked for) have no effect. */
void starter_warn_of_spares(const char *output, int asked, const char *why);

#endif
