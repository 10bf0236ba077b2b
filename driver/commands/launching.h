#ifndef NORMSWEEP_DRIVER_COMMANDS_LAUNCHING_H
#define NORMSWEEP_DRIVER_COMMANDS_LAUNCHING_H

#include "driver/commands/arguments.h"
#include "driver/ranks/mpirun.h"

/* What `run` needs to start ranks of its own. */
struct launching {
    const struct arguments *arguments; /* borrowed */
    const struct sweep *sweep; /* borrowed */
    struct mpirun mpirun;
    bool found; /* mpirun is valid */
};

/* As many workers as requested, or as the cores allow, but no more than there are runs. 0: as the allocation
 * has. */
int launching_workers(const struct launching *launching, int64_t pending);

/* The ranks that each host starts besides its workers. 0 with MPICH, whose mpiexec ends all ranks if one
 * dies, and with Open MPI 5 in an allocation, whose hosts it does not tell. Valid once launching_prepare has
 * found mpirun. */
int launching_spares(const struct launching *launching);

/* Prepares for so many runs: finds mpirun, and reserves descriptors for the ranks. -1 with the error set.
 */
int launching_prepare(struct launching *launching, int64_t pending, struct error *error);

/* Checks what a sweep on ranks needs before anything is written; `look`: without writing anything for it. A
 * finished sweep needs none of it. -1 with the error set. */
int launching_check(struct launching *launching, bool look, struct error *error);

#endif
