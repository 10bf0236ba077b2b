#ifndef NORMSWEEP_DRIVER_TEXT_UTF8_H
#define NORMSWEEP_DRIVER_TEXT_UTF8_H

#include <stddef.h>

#include "model/core/error.h"

/* Bytes of the character that `size` bytes begin with; 0: it is none, or it does not end among them. */
size_t utf8_length(const char *text, size_t size);

enum { UTF8_MOST = 4 }; /* bytes of a character */

/*
 * The text of a file without the byte order mark that some editors put before it. -1 and a line without the
 * file's name: it is UTF-16 or UTF-32, with such a mark or without.
 */
int utf8_begin(const char **text, size_t *size, struct error *error);

#endif
