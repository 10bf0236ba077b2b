#ifndef NORMSWEEP_WORKER_HOST_LOG_H
#define NORMSWEEP_WORKER_HOST_LOG_H

#include <stdint.h>

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

/* Removes FOLDER/<name>.log, as the run has ended well after all. */
void log_forget(const char *folder, const char *name);

/* Removes all logs of workers from the folder, which a dead coordinator has left. */
void log_sweep(const char *folder);

#endif
