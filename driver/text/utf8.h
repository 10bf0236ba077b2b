#ifndef NORMSWEEP_DRIVER_TEXT_UTF8_H
#define NORMSWEEP_DRIVER_TEXT_UTF8_H

#include <stddef.h>

#include "model/core/error.h"

/* Bytes of the character that `size` bytes begin with; 0: it is none, or it does not end among them. */
size_t utf8_length(const char *text, size_t size);

enum { UTF8_MOST = 4 }; /* bytes of a character */

/* Writes a character below U+110000 that is no surrogate; the place behind it. */
char *utf8_put(char *out, unsigned long code);

/*
 * The text of a file without the byte order mark that some editors put before it. -1 and a line without the
 * file's name: it is UTF-16 or UTF-32, with such a mark or without.
 */
int utf8_begin(const char **text, size_t *size, struct error *error);

#endif
