#ifndef NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H
#define NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the reader of a stream can display. */

struct terminal {
    int columns; /* 80 if unknown */
    int rows; /* 0: the cursor cannot be moved (a file, a pipe, a dumb terminal) */
    bool colours; /* 256 of them; not without a terminal, with NO_COLOR, or if the terminal may have fewer */
    bool unicode; /* lines may be drawn */
};

/* Examines the stream and TERM, COLORTERM, NO_COLOR, LC_ALL, LC_CTYPE, LANG. */
struct terminal terminal_find(FILE *file);

/* Updates the size from this process's controlling terminal. False: it is unchanged, or there is no
 * terminal. */
bool terminal_resize(struct terminal *terminal);

enum { TERMINAL_TEXT = 48 }; /* size of a text that holds any terminal_format */

/*
 * Formats a terminal for an environment variable, for a process that cannot see it (a rank under mpirun):
 * "80x24 256 utf8", "80x0 none ascii". Returns text.
 */
char *terminal_format(const struct terminal *terminal, char *text, size_t size);

/* Parses such a text. For any other text returns false and leaves *terminal alone. */
bool terminal_parse(struct terminal *terminal, const char *text);

#endif
