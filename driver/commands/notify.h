#ifndef NORMSWEEP_DRIVER_COMMANDS_NOTIFY_H
#define NORMSWEEP_DRIVER_COMMANDS_NOTIFY_H

#include <stddef.h>

/* Seconds that a script may take before it is ended. */
enum { NOTIFY_SECONDS = 30 };

/*
 * Runs a script with /bin/sh in a process group of its own, with `size` bytes of text as its standard input,
 * and waits for its end, up to NOTIFY_SECONDS. Also ends it if a signal asks this process to stop meanwhile.
 * Prints one line on stderr if it fails. Call it when nothing is left to be done: signals no longer end the
 * process.
 */
void notify(const char *script, const char *text, size_t size);

#endif
