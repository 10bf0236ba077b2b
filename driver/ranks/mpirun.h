#ifndef NORMSWEEP_DRIVER_RANKS_MPIRUN_H
#define NORMSWEEP_DRIVER_RANKS_MPIRUN_H

#include "model/core/error.h"

#include <stdbool.h>

/* The commands that start ranks, for the MPI library with which this program is built. */
enum mpirun_kind { MPIRUN_OPEN_MPI, MPIRUN_HYDRA /* MPICH and what derives from it */, MPIRUN_OTHER };

/* A file of hosts for Open MPI's mpirun; "none": none. */
#define HOSTFILE_VARIABLE "OMPI_MCA_orte_default_hostfile"

struct mpirun {
    enum mpirun_kind kind;
    const char *command; /* "mpirun" */
    int release; /* the major release of Open MPI; 0: another MPI */
};

/* Does this text of wire_library() name Open MPI? */
bool mpirun_is_open_mpi(const char *library);

/* -1 with a message in error: this program is built with Open MPI, the user is root and the two variables
 * that Open MPI then requires are not set. */
int mpirun_check_root(struct error *error);

/* Checks that Open MPI can create its session folder, in $TMPDIR or /tmp, by creating one (`look`: only by
 * the permissions), and that the disk has room for that of so many ranks. -1 with a message in error: mpirun
 * itself would print pages, or hang. */
int mpirun_check_folder(int ranks, bool look, struct error *error);

/* Finds the command on the PATH that belongs to this program's MPI. -1 with a message in error: there is
 * none, or no PATH. */
int mpirun_find(struct mpirun *mpirun, struct error *error);

/* Does a scheduler or a host file tell mpirun which machines to use? */
bool mpirun_has_allocation(void);

/* What Open MPI's mpirun prints of the ranks that it would start with no number of them given: one for each
 * slot of an allocation. Starts nothing. The caller frees it; NULL: nothing. */
char *mpirun_map(const struct mpirun *mpirun);

/* Has nobody chosen the networks of Open MPI, in the environment or in a file of parameters? A choice of ours
 * beside one of theirs could be an error for it. Takes a third of a second. */
bool mpirun_may_set_network(void);

/* The folder in which Open MPI creates its session folders. Sets *variable to the name of the environment
 * variable that chooses it, "" if none does. Borrowed. */
const char *mpirun_folder(const char **variable);

#endif
