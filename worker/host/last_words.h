#ifndef NORMSWEEP_WORKER_HOST_LAST_WORDS_H
#define NORMSWEEP_WORKER_HOST_LAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a process writes if a second SIGINT ends it: a line on standard error, and one in a log. Both are
 * prepared, because the handler of the signal may only write.
 */

enum { LAST_WORDS_MOST = 2 }; /* times that a process can prepare them */

/*
 * Prepares both, in place of those prepared before; both end with '\n' and are copied. `file`: of the log,
 * which may be closed afterwards; -1: there is none. `time`: the offset in `logged` of a time like
 * 2026-11-21T13:40:00.123Z, of which the digits become those of then. Without memory nothing will be written.
 */
void last_words_prepare(const char *told, int file, const char *logged, size_t time);

/* Is the last line in the log incomplete? Then a line of its own needs an end of that one. */
void last_words_torn(bool torn);

/* From now on there is nothing to write: it has ended otherwise. */
void last_words_drop(void);

/* Replaces the digits of a time like 2026-11-21T13:40:00.123Z by those of seconds and nanoseconds since 1970,
 * in UTC. gmtime_r does not have to be safe in a handler. */
void last_words_put_time(char *text, int64_t seconds, long nanoseconds);

/* Writes them, if they were prepared, and drops them. Safe in a signal handler. */
void last_words_say(void);

#endif
