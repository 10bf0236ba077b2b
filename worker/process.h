#ifndef NORMSWEEP_WORKER_PROCESS_H
#define NORMSWEEP_WORKER_PROCESS_H

#include <stdbool.h>

enum { PROCESS_PLACE = 128 };

/* A process, told from all others: where it runs (its machine, and the name space of its pids), its pid, and
 * when it was started, as pids come again. */
struct process {
    long pid;
    unsigned long long start; /* ticks since boot */
    char place[PROCESS_PLACE]; /* "host/pid:[4026531836]", without blanks */
};

struct process process_self(void);

/* Does it run where its pid means something to this process? */
bool process_is_here(const struct process *process);

/* Of one that is here: does it live? A zombie does not. */
bool process_lives(const struct process *process);

bool process_same(const struct process *a, const struct process *b);

/* How many children of a process run the program at a path. */
int process_children(long pid, const char *program);

/* The path of the program that this process runs; NULL: it cannot be told. The caller's to free. */
char *process_program(void);

/* The characters of a place that are the host's name. */
int process_host_length(const char *place);

#endif
