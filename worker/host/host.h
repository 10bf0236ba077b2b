#ifndef NORMSWEEP_WORKER_HOST_HOST_H
#define NORMSWEEP_WORKER_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "model/core/error.h"
#include "model/corpora/corpora.h"

/* Seconds on a monotonic clock. */
static inline double clock_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sleeps; a signal ends it early. */
static inline void clock_pause(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&time, NULL);
}

/*
 * The pause between two looks for messages. It starts short and doubles while nothing comes, so that answers
 * come within a millisecond while there is traffic, and waiting costs almost no processor time.
 */
struct patience {
    double pause; /* the last pause; 0 at first */
    double idle; /* seconds slept since the last message */
};

static inline void patience_wait(struct patience *patience)
{
    double most = patience->idle < 5e-3 ? 1e-3 : patience->idle < 25e-3 ? patience->idle / 5 : 5e-3;

    patience->pause = patience->pause > 0 ? 2 * patience->pause : 50e-6;
    patience->pause = patience->pause < most ? patience->pause : most;
    patience->idle += patience->pause;
    clock_pause(patience->pause);
}

static inline void patience_renew(struct patience *patience)
{
    *patience = (struct patience){0};
}

/*
 * Makes the BLAS library start with one thread and with the kernels that suit the processor. The library
 * reads its variables when it is loaded, before main, so this function sets them and executes the program
 * again, once; with libraries other than OpenBLAS it does not. It also keeps MPI from looking for graphics
 * cards. Call it before MPI is started. It changes no variable that the user has set.
 */
void environment_prepare(char **argv);

/* Sets the threads of the following BLAS calls, overriding environment variables. */
void environment_threads(int64_t threads);

/* Does the library let environment_threads set them? */
bool environment_sets_threads(void);

/* The path of the loaded library that has this function; in words if there is none. Returns text. */
char *environment_library_file(const char *name, char *text, size_t size);

/* "OpenBLAS 0.3.21 ..." and "SkylakeX"; "unknown" for other libraries. Static memory. */
const char *environment_blas(void);
const char *environment_blas_kernel(void);

/* Writes this machine's name, truncated to size. Returns text. */
char *environment_host(char *text, size_t size);

/* Opens the log in an existing folder, writes its first line and redirects stderr to it; if that fails,
 * stderr stays as it is. `worker` counts from 1. */
void log_open(const char *folder, int64_t session, int64_t rank, int64_t worker);

/* Writes "2026-11-21T13:40:00Z pid 1234 host n1 " and the line. Does nothing if no log is open. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets the run of which a line about a fatal signal speaks, by its digest and its cell; NULL: none. */
void log_run(const char *run, int64_t cell);

/* Closes and removes the log. */
void log_close(void);

/*
 * For the coordinator: removes the log of a worker that has died, and appends its last lines to
 * FOLDER/<name>.log unless `name` is NULL. `last`, of `size` characters, receives "killed by signal 11" if
 * the log says so, else "".
 */
void log_bequeath(const char *folder, int64_t session, int64_t rank, const char *name, char *last, int size);

/* Removes FOLDER/<name>.log, as the run has ended well after all. */
void log_forget(const char *folder, const char *name);

/* A pattern of the logs of workers, which a dead coordinator may have left. */
#define LOG_FILES "worker-*.log"

/*
 * Like corpus_load, but the processes of a user on one machine share one copy, also across sweeps: the first
 * process reads the texts, the others map its copy, which exists as long as one of them lives. A corpus that
 * is small or cannot be shared is in memory of this process alone (corpus->file is then -1). Changed texts
 * are read again.
 */
int node_load_corpus(
    struct corpus *corpus, const struct corpus_source *source, enum corpus_fault *fault, struct error *error);

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

/* A variable of a process's first environment; NULL if unset or unreadable. The caller frees it. */
char *process_variable(long pid, const char *name);

/* The path of this process's program; NULL if unknown. The caller frees it. */
char *process_program(void);

/* The length of the host's name at the start of a place. */
int process_host_length(const char *place);

/*
 * The number of processors that this process may use: those it is bound to, or fewer if a control group
 * limits their time (a quota of 1.5 counts as 2). At least 1.
 */
int processors_count(void);

/*
 * Binds this process to its share of the processors that it may use, as worker `index` of `workers` on this
 * machine with `threads` each. Shares are contiguous: a processor per thread if that uses all processors, or
 * a whole core per thread if that uses all cores. Otherwise it does nothing: with spare cores, or too few of
 * them, the system places workers better.
 */
void processors_pin(int index, int workers, int64_t threads);

/* The place of a processor. Hyperthreads of one core have the same `core`: the least of their numbers. */
struct processor {
    int number, core, node;
};

/*
 * Makes SIGINT, SIGTERM, SIGHUP and SIGUSR1 set a flag that asks to save and stop. Call it first in main of
 * every process that trains or supervises training: a signal that comes earlier kills the process. A signal
 * that was ignored when the program started (nohup) stays ignored. SIGPIPE is ignored, so that a sweep does
 * not end when its output is closed, and SIGXFSZ, so that a file above the size limit is an error like a full
 * disk.
 */
void signals_install(void);

/* After so many seconds signals_stop is true, as if a signal had come. */
void signals_stop_in(double seconds);

/* Has one of these signals come? */
bool signals_stop(void);

/*
 * A second SIGINT ends the process at once with status 130, after its last line; the echo of the first that
 * a process group gets from timeout(1) does not count. A process with children turns that off and asks
 * signals_second.
 */
void signals_end_at_second(bool end);
bool signals_second(void);

/* The last line, for standard error: it is copied, with a line feed. At most twice in a process; NULL, as
 * often as wanted: from now on there is none. */
void signals_last_line(const char *line);

/* Writes it, once. Safe in a signal handler. */
void signals_tell_last(void);

/* Waits until the contents of a file are on the disk. 0 or an errno. */
int sync_file(const char *path);

/* The same for the names in a folder. 0 also if the file system does not support it. */
int sync_folder(const char *path);

/* Removes the files of a folder, which may be missing, whose names match a pattern of fnmatch. */
void remove_matching(const char *folder, const char *pattern);

#endif
