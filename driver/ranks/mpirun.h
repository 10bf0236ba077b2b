#ifndef NORMSWEEP_DRIVER_RANKS_MPIRUN_H
#define NORMSWEEP_DRIVER_RANKS_MPIRUN_H

#include "model/core/error.h"

/* The number of this process among the ranks that mpirun or srun has started; -1: it is none of them. */
int mpirun_rank(void);

/* Root without the two variables that Open MPI asks of it: -1 and the line that names them. */
int mpirun_check_root(struct error *error);

/* Can Open MPI make the folder of its files, in $TMPDIR or /tmp? -1 and a line that names it: its mpirun
 * would fail with pages of its own. */
int mpirun_check_folder(struct error *error);

/* The release of Open MPI on the PATH; 0: another MPI; -1 with the line: there is no mpirun. */
int mpirun_find(struct error *error);

#endif
