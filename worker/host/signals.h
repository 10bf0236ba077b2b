#ifndef NORMSWEEP_WORKER_HOST_SIGNALS_H
#define NORMSWEEP_WORKER_HOST_SIGNALS_H

#include <stdbool.h>

/*
 * SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask to save and stop; they only raise a flag. The first thing in main
 * of every process that trains or watches over one: a signal that comes earlier kills it. A signal that was
 * ignored when the program started (nohup) stays ignored. A sweep does not end because nobody reads what it
 * says (SIGPIPE), and a file that grows past what is allowed is an error like a full disk (SIGXFSZ).
 */
void signals_install(void);

/* Has one of them come? */
bool signals_stop(void);

/* A second SIGINT, not the echo of the first that a process group gets from timeout(1), ends the process at
 * once with status 130; a process with children asks instead. */
void signals_end_at_second(bool end);
bool signals_second(void);

/* Where they are installed: keeps signals waiting over an exec of this program, until it installs them; one
 * that has come already is among them. Where the exec fails, signals_let_go undoes it. */
void signals_hold(void);
void signals_let_go(void);

#endif
