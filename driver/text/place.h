#ifndef NORMSWEEP_DRIVER_TEXT_PLACE_H
#define NORMSWEEP_DRIVER_TEXT_PLACE_H

#include "model/core/error.h"

/* A place in the sweep file, both from 1. Line 0 is outside the file: see below. */
struct place {
    int line, column;
};

#define PLACE_SETTING ((struct place){0, 1}) /* a --set */
#define PLACE_DEFAULT ((struct place){0, 0}) /* stands nowhere: the fault is the whole file's */

/*
 * Puts where a fault is before the line that `error` holds: "sweep.yaml:12:18: ", "--set " or, for what
 * stands nowhere, "sweep.yaml:1:1: ". What would break the line or move the terminal's cursor is replaced.
 * Always -1.
 */
int place_prefix(struct error *error, const char *file, struct place place);

/* The same with the line from a printf format. */
int place_error(struct error *error, const char *file, struct place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Replaces control characters in what `error` holds. Always -1. */
int place_clean(struct error *error);

#define EXCERPT_SIZE 64

/* A foreign text as a message may hold it: cut after some 40 characters. Returns excerpt. */
const char *place_excerpt(const char *text, char excerpt[EXCERPT_SIZE]);

#endif
