#ifndef NORMSWEEP_DRIVER_TEXT_PLACE_H
#define NORMSWEEP_DRIVER_TEXT_PLACE_H

#include "model/core/error.h"

/* A place in the sweep file; line and column count from 1. Line 0 is outside the file: see below. */
struct place {
    int line, column;
    const char *file; /* another file, which the sweep file includes; NULL: the sweep file. Borrowed */
};

#define PLACE_SETTING ((struct place){.column = 1}) /* in a --set */
#define PLACE_DEFAULT ((struct place){.line = 0}) /* not given anywhere; messages point at 1:1 */

/*
 * Puts the place of a fault before the message in `error`: "sweep.yaml:12:18: ", "--set " or, for
 * PLACE_DEFAULT, "sweep.yaml:1:1: ". `file` is the sweep file. Always -1.
 */
int place_prefix(struct error *error, const char *file, struct place place);

/* The same with an ERROR_INPUT message from a printf format. */
int place_error(struct error *error, const char *file, struct place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define EXCERPT_SIZE 64

/* The text, cut after about 40 bytes, for use in a message. Returns excerpt. */
const char *place_excerpt(const char *text, char excerpt[EXCERPT_SIZE]);

#endif
