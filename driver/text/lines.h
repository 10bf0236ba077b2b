#ifndef NORMSWEEP_DRIVER_TEXT_LINES_H
#define NORMSWEEP_DRIVER_TEXT_LINES_H

#include <stdio.h>

/* Lines of text for people: no wider than their terminal, and nothing in them that moves its cursor. */

/* Replaces control characters and what is no UTF-8 by question marks. Returns text. */
char *lines_clean(char *text);

/* The columns that a clean text takes: its characters of UTF-8. */
int lines_width(const char *text);

/* The bytes of the longest beginning of a clean text that takes no more than `columns`. */
int lines_fit(const char *text, int columns);

/* Prints a text from a printf format, cleaned, as lines of at most `columns`, broken at blanks where there
 * are any; 0: one line. */
void lines_print(FILE *out, int columns, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
