#ifndef NORMSWEEP_DRIVER_RANKS_RANK_PROCESSES_H
#define NORMSWEEP_DRIVER_RANKS_RANK_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

#include "worker/host/process.h"

/*
 * The ranks on this machine as their launcher sees them: descendants of the command that it started, through
 * any number of wrapper scripts, that run this program.
 */
struct rank_processes {
    pid_t command; /* the command that was started */
    bool proxied; /* ranks are children of a proxy, and that one of mpirun: with MPICH */
    pid_t mpirun; /* started the ranks, or their proxy; equal to command until a rank is seen */
    struct process mpirun_process; /* the same, distinguishable from later processes with its pid */
    int ranks; /* number of live ranks; -1: the system does not tell */
    int most; /* largest number of ranks seen at once */
    double grown; /* clock: when `most` last grew */
    char *session; /* path of mpirun's folder; NULL: unknown */
    unsigned long job; /* its number; 0: unknown */
};

void rank_processes_init(struct rank_processes *ranks, pid_t command, bool proxied, double now);
void rank_processes_release(struct rank_processes *ranks);

/* Updates the struct from the process table. Takes some milliseconds. */
void rank_processes_look(struct rank_processes *ranks, double now);

/*
 * While ranks are starting: has a rank died, or are some of the `expected` ranks (0: unknown) overdue? The
 * other ranks would wait for them in MPI_Init forever. The answer may change, as a late rank may still come.
 */
bool rank_processes_lost(const struct rank_processes *ranks, int expected, double now);

/* Removes what a killed mpirun has left on this machine: its files and the shared memory of its ranks.
 * Only after the command and its ranks are gone. */
void rank_processes_tidy(struct rank_processes *ranks);

#endif
