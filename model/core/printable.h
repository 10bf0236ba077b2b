#ifndef NORMSWEEP_MODEL_CORE_PRINTABLE_H
#define NORMSWEEP_MODEL_CORE_PRINTABLE_H

#include <stddef.h>

/*
 * Texts of others, such as names of files and variables, as a terminal may show them. Escapes stand for
 * control characters, line breaks, bytes that are not UTF-8, and characters that change the direction of the
 * text after them: "\n", "\x1b", "\u202e". A backslash stays as it is, so that a text that is printable
 * already does not change.
 */

/* Bytes of the character that `size` bytes of text begin with; 0: not valid UTF-8, or cut off. */
size_t utf8_length(const char *text, size_t size);

enum { UTF8_MOST = 4, PRINTABLE_MOST = 4 }; /* bytes of a character; of what stands for one byte of a text */

/* The same for a text, and 0 also if an escape has to stand for the character. */
size_t printable_length(const char *text);

/* Writes the text, cut behind a whole character or escape to fit into `size` bytes. Returns shown. */
char *printable(const char *text, char *shown, size_t size);

#endif
