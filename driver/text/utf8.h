#ifndef NORMSWEEP_DRIVER_TEXT_UTF8_H
#define NORMSWEEP_DRIVER_TEXT_UTF8_H

#include <stddef.h>

#include "model/core/error.h"

/*
 * Skips the byte order mark that some editors put at the start of a file. -1 if the text is UTF-16 or UTF-32,
 * with or without such a mark; the message does not name the file.
 */
int utf8_begin(const char **text, size_t *size, struct error *error);

#endif
