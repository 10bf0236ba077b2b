#ifndef NORMSWEEP_WORKER_HOST_PROCESS_H
#define NORMSWEEP_WORKER_HOST_PROCESS_H

#include <stdbool.h>

enum { PROCESS_PLACE = 128 };

/* A process, told from all others: where it runs (its machine, and the name space of its pids), its pid, and
 * when it was started, as pids come again. */
struct process {
    long pid;
    unsigned long long start; /* ticks since boot; 0: not known */
    char place[PROCESS_PLACE]; /* "host/pid:[4026531836]", without blanks */
};

struct process process_self(void);

/* Does it run where its pid means something to this process? */
bool process_is_here(const struct process *process);

/* Of one that is here: does it live? A zombie does not; one of which nothing can be told does. */
bool process_lives(const struct process *process);

/* Of one that is here: has it been stopped, by SIGSTOP or a debugger? */
bool process_is_stopped(const struct process *process);

/* A process that is here, by its pid. */
struct process process_of(long pid);

bool process_same(const struct process *a, const struct process *b);

/*
 * Calls `visit` for every process that came of `pid`: its children, theirs, and so on, in no order. False:
 * the system does not tell.
 */
bool process_walk(long pid, void (*visit)(void *context, long pid, long parent), void *context);

/* The same from the list of all processes alone, for kernels that keep no lists of children. */
bool process_walk_all(long pid, void (*visit)(void *context, long pid, long parent), void *context);

/* Does a process run the program that this one runs? */
bool process_is_alike(long pid);

/* A variable in the environment that a process was started with; the caller's to free, NULL: it has none, or
 * that cannot be read. */
char *process_variable(long pid, const char *name);

/* The path of the program that this process runs; NULL: it cannot be told. The caller's to free. */
char *process_program(void);

/* The characters of a place that are the host's name. */
int process_host_length(const char *place);

#endif
