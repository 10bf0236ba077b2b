#ifndef NORMSWEEP_WORKER_HOST_SIGNALS_H
#define NORMSWEEP_WORKER_HOST_SIGNALS_H

#include <stdbool.h>

/*
 * Makes SIGINT, SIGTERM, SIGHUP and SIGUSR1 set a flag that asks to save and stop. Call it first in main of
 * every process that trains or supervises training: a signal that comes earlier kills the process. A signal
 * that was ignored when the program started (nohup) stays ignored. SIGPIPE is ignored, so that a sweep does
 * not end when its output is closed, and SIGXFSZ, so that a file above the size limit is an error like a full
 * disk.
 */
void signals_install(void);

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

/*
 * Blocks installed signals, with one that has already come, during an exec of this program, until the new
 * program installs its handlers. If the exec fails, signals_let_go undoes it.
 */
void signals_hold(void);
void signals_let_go(void);

#endif
