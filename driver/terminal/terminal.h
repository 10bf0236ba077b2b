#ifndef NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H
#define NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the other end of a stream can show. */

enum colours { COLOURS_NONE, COLOURS_16, COLOURS_256 };

struct terminal {
    int columns; /* 80 where they are not known */
    int rows; /* 0: no terminal whose cursor moves; lines follow one another */
    enum colours colours; /* none without a terminal, under NO_COLOR and TERM=dumb */
    bool unicode; /* block characters may be used */
};

/* By the stream itself and TERM, COLORTERM, NO_COLOR, LC_ALL, LC_CTYPE, LANG. */
struct terminal terminal_find(FILE *file);

/* Takes over the size that this process's own terminal has by now; false: it is the same, or there is none.
 */
bool terminal_resize(struct terminal *terminal);

enum { TERMINAL_TEXT = 48 }; /* holds every terminal_format */

/*
 * As an environment variable holds it, for a process whose terminal is hidden (a rank under mpirun):
 * "80x24 256 utf8", "80x0 none ascii". Returns text.
 */
char *terminal_format(const struct terminal *terminal, char *text, size_t size);

/* And back; false, and *terminal as it was, for any other text. */
bool terminal_parse(struct terminal *terminal, const char *text);

#endif
