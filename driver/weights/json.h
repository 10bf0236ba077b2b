#ifndef NORMSWEEP_DRIVER_WEIGHTS_JSON_H
#define NORMSWEEP_DRIVER_WEIGHTS_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "driver/text/place.h"

/*
 * Reads one JSON object or array (RFC 8259); json_decref() releases it. Also refused: repeated keys, NUL
 * characters, unpaired surrogates, text that is not UTF-8, numbers that neither int64_t nor double can hold,
 * and deep nesting. NULL with a message in error, without its place; *fault is where the reader stopped.
 */
json_t *json_read(const char *text, size_t size, struct place *fault, struct error *error);

/* The same from a file, with or without a byte order mark; messages begin with its path, and place. */
json_t *json_read_file(const char *path, struct error *error);

/* The library's version. */
const char *json_library(void);

#endif
