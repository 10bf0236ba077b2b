#ifndef NORMSWEEP_WORKER_HOST_LOG_H
#define NORMSWEEP_WORKER_HOST_LOG_H

#include <stdint.h>

/*
 * What a worker leaves behind should it die: a file FOLDER/worker-<session>-<number>.log with a line for
 * whatever it begins, all that libraries say on stderr, and the signal that has killed it. A worker that ends
 * as it should removes its log.
 */

/* Opens it and turns stderr to it; the folder is there. Without it, what goes wrong is said on stderr. */
void log_open(const char *folder, int64_t session, int64_t number);

/* "2026-11-21T13:40:00Z pid 1234 host n1 " and the line. Does nothing where no log is open. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is being done, for the line that a fatal signal leaves: "training run 0123..."; copied. */
void log_doing(const char *text);

/* Removes the file. */
void log_close(void);

/*
 * For the coordinator: ends the log of a worker that is gone, and appends its last lines to FOLDER/<name>.log
 * where `name` is not NULL. `last`: of `size` characters, gets "killed by signal 11" where the log says so,
 * else "".
 */
void log_bequeath(
    const char *folder, int64_t session, int64_t number, const char *name, char *last, int size);

/* Removes FOLDER/<name>.log: the run has ended well after all. */
void log_forget(const char *folder, const char *name);

/* Removes all logs of workers from the folder: of a coordinator that is gone. */
void log_sweep(const char *folder);

#endif
