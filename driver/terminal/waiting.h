#ifndef NORMSWEEP_DRIVER_TERMINAL_WAITING_H
#define NORMSWEEP_DRIVER_TERMINAL_WAITING_H

#include "driver/terminal/canvas.h"

/*
 * A status line for a command that takes a while before it prints its answer. Each line replaces the one
 * before; the last one is erased. Nothing is written if the stream is not a terminal (terminal.rows 0).
 */
struct waiting {
    struct canvas canvas;
    double next; /* clock_now() before which no line is due */
};

/* The first line is due after a short pause, so that quick commands show none. */
void waiting_begin(struct waiting *waiting, FILE *file, const struct terminal *terminal);

/* True a few times a second; a loop with many iterations asks before it shows a line. */
bool waiting_is_due(const struct waiting *waiting);

/* Shows a line at once. The format has no '\n'. */
void waiting_say(struct waiting *waiting, const char *format, ...) __attribute__((format(printf, 2, 3)));

void waiting_end(struct waiting *waiting);

#endif
