#ifndef NORMSWEEP_DRIVER_RANKS_MPIRUN_H
#define NORMSWEEP_DRIVER_RANKS_MPIRUN_H

#include "model/core/error.h"

/* The rank of this process; -1: it was not started by mpirun or srun. */
int mpirun_rank(void);

/* -1 with a message in error: the user is root and the two variables that Open MPI then requires are not
 * set. */
int mpirun_check_root(struct error *error);

/* Checks that Open MPI can create its session folder, in $TMPDIR or /tmp. -1 with a message in error: mpirun
 * itself would print pages. */
int mpirun_check_folder(struct error *error);

/* The major release of Open MPI on the PATH; 0: another MPI; -1 with a message in error: there is no
 * mpirun. */
int mpirun_find(struct error *error);

/* The folder in which Open MPI creates its session folders. Sets *variable to the name of the environment
 * variable that chooses it, "" if none does. Borrowed. */
const char *mpirun_folder(const char **variable);

#endif
