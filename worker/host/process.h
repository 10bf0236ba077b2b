#ifndef NORMSWEEP_WORKER_HOST_PROCESS_H
#define NORMSWEEP_WORKER_HOST_PROCESS_H

#include <stdbool.h>

enum { PROCESS_PLACE = 128 };

/*
 * Identifies a process: where it runs (its machine and its pid namespace), its pid, and its start time, as
 * pids are reused.
 */
struct process {
    long pid;
    unsigned long long start; /* ticks since boot; 0: unknown */
    char place[PROCESS_PLACE]; /* "host/pid:[4026531836]", without blanks */
};

struct process process_self(void);

/* Does it run on this machine and in this pid namespace? The functions below require that. */
bool process_is_here(const struct process *process);

/* Is it alive? A zombie is not; a process about which nothing is known is. */
bool process_lives(const struct process *process);

/* Is it stopped, by SIGSTOP or a debugger? */
bool process_is_stopped(const struct process *process);

/* The process with this pid. */
struct process process_of(long pid);

/* The pid of its parent; -1 without such a process. */
long process_parent(long pid);

bool process_same(const struct process *a, const struct process *b);

/*
 * Calls `visit` for every descendant of `pid`, in no particular order. False if the system does not provide
 * them.
 */
bool process_walk(long pid, void (*visit)(void *context, long pid, long parent), void *context);

/* The same from the list of all processes, for kernels without lists of children. */
bool process_walk_all(long pid, void (*visit)(void *context, long pid, long parent), void *context);

/* Does the process run the same program as this one? */
bool process_is_alike(long pid);

/* A variable of the environment that a process was started with; NULL if unset or unreadable. The caller
 * frees it. */
char *process_variable(long pid, const char *name);

/* The path of this process's program; NULL if unknown. The caller frees it. */
char *process_program(void);

/* The length of the host's name at the start of a place. */
int process_host_length(const char *place);

#endif
