#ifndef NORMSWEEP_DRIVER_RANKS_RANK_PROCESSES_H
#define NORMSWEEP_DRIVER_RANKS_RANK_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

#include "worker/host/process.h"

/*
 * The ranks on this machine as their launcher sees them: processes that came of the command it started,
 * however many wrappers are between, and that run this program.
 */
struct rank_processes {
    pid_t command; /* that was started */
    pid_t mpirun; /* whose children the ranks are; the command until one is seen */
    struct process mpirun_process; /* the same, told from others that get its pid later */
    int ranks; /* that live; -1: the system does not tell */
    int most; /* that were ever seen at once */
    double grown; /* clock: when a new one was last seen */
    char *session; /* mpirun's folder of files; NULL: not known */
    unsigned long family; /* what names the shared memory of its jobs; 0: not known */
};

void rank_processes_init(struct rank_processes *ranks, pid_t command, double now);
void rank_processes_release(struct rank_processes *ranks);

/* Looks. Some milliseconds. */
void rank_processes_look(struct rank_processes *ranks, double now);

/*
 * For a start that has not come to its end: has a rank died, or are some of the `expected` (0: not known)
 * overdue? The others wait in MPI_Init for them for ever. What looks lost may still come: ask again.
 */
bool rank_processes_lost(const struct rank_processes *ranks, int expected, double now);

/* Once the command is gone, and with it its ranks: removes what a killed mpirun has left, its files and the
 * shared memory of its ranks on this machine. */
void rank_processes_tidy(const struct rank_processes *ranks);

#endif
