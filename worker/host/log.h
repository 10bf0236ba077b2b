#ifndef NORMSWEEP_WORKER_HOST_LOG_H
#define NORMSWEEP_WORKER_HOST_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_HOST = 64, LOG_RUN = 64, LOG_LAST = 40 };

/*
 * The log of a worker, for the case that it dies: FOLDER/worker-<session>-<rank>.log with a line for
 * everything that it begins, the stderr of libraries, and the signal that killed it. The first line has the
 * number of the worker, which is another one than its rank's. A worker that ends normally removes its log.
 */

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

/* What the log of a worker tells of its death. */
struct log_death {
    int64_t session, rank; /* of the worker, as in log_open */
    int64_t worker; /* its number; its rank if the log's first line does not tell the number */
    char host[LOG_HOST];
    char run[LOG_RUN]; /* the run in which it died, as it was given to log_run */
    int64_t cell;
    int signal;
    char last[LOG_LAST]; /* "killed by signal 11" */
    bool alone; /* no other log in the folder tells of a fatal signal */
};

/*
 * Passes on each worker that has died in a run, by a signal of its own fault, so that its log says so. The
 * log is removed before, so that no death is passed on twice, whatever happens then; a log that cannot be
 * removed is not passed on. If `take` knows the run, it returns true, and the end of the log is appended to
 * FOLDER/<run>.log.
 */
void log_each_death(
    const char *folder, bool (*take)(void *context, const struct log_death *death), void *context);

/* Removes FOLDER/<name>.log, as the run has ended well after all. */
void log_forget(const char *folder, const char *name);

/* Removes all logs of workers from the folder, which a dead coordinator has left. */
void log_sweep(const char *folder);

#endif
