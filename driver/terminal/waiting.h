#ifndef NORMSWEEP_DRIVER_SWEEP_WAITING_H
#define NORMSWEEP_DRIVER_SWEEP_WAITING_H

#include "driver/terminal/canvas.h"

/*
 * One line that says what a command is busy with before it prints its answer, for someone who waits at a
 * terminal: each line replaces the one before, and the last is taken away. Elsewhere (terminal.rows 0)
 * nothing is written.
 */
struct waiting {
    struct canvas canvas;
    double next; /* no line before; seconds of clock_now() */
};

/* The first line comes after a moment: an answer that comes sooner needs none. */
void waiting_begin(struct waiting *waiting, FILE *file, const struct terminal *terminal);

/* A few times a second. For a loop that has more turns than anyone can read lines. */
bool waiting_is_due(const struct waiting *waiting);

/* Shows the line at once. `format` without '\n'. */
void waiting_say(struct waiting *waiting, const char *format, ...) __attribute__((format(printf, 2, 3)));

void waiting_end(struct waiting *waiting);

#endif
