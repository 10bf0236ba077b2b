#ifndef NORMSWEEP_DRIVER_WEIGHTS_JSON_H
#define NORMSWEEP_DRIVER_WEIGHTS_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "driver/text/place.h"

/*
 * Reads one JSON object or list as RFC 8259 has it; json_decref() releases it. Refused beside what is not
 * JSON: repeated keys, NUL characters, halves of surrogate pairs, anything but UTF-8, numbers that neither
 * int64_t nor double can hold, and deep nesting. On failure NULL, the line in error without its place, which
 * is in *fault: where the reader stopped.
 */
json_t *json_read(const char *text, size_t size, struct place *fault, struct error *error);

/* The library's version. */
const char *json_library(void);

#endif
