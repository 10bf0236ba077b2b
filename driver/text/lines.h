#ifndef NORMSWEEP_DRIVER_TEXT_LINES_H
#define NORMSWEEP_DRIVER_TEXT_LINES_H

#include <stdio.h>

/* Lines of text for a terminal: no wider than it is, and without characters that move its cursor. */

/* The text made printable (printable.h), in new memory. Frees the text; NULL stays NULL. */
char *lines_clean(char *text);

/* Columns of a clean text: one for each UTF-8 character. */
int lines_width(const char *text);

/* Lines that end with '\n'; NULL: 0. */
int lines_count(const char *text);

/* Bytes of the longest prefix of a clean text that fits in `columns`. */
int lines_fit(const char *text, int columns);

/* Prints a text, made printable, without the end of its line. */
void lines_put(FILE *out, const char *text);

/* Prints a text from a printf format, made printable, as lines of at most `columns`, broken at spaces where
 * possible; 0 columns: as one line. */
void lines_print(FILE *out, int columns, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
