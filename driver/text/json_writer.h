#ifndef NORMSWEEP_DRIVER_TEXT_JSON_WRITER_H
#define NORMSWEEP_DRIVER_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON (RFC 8259) on one line, value by value. A value in an object has a name; in a list, and at the
 * top, the name is NULL. The caller closes what it has opened, and checks `out` for errors.
 */
struct json_writer {
    FILE *out;
    bool comma; /* goes before the next value */
};

/* `bracket` is '{' or '['. */
void json_writer_open(struct json_writer *writer, const char *name, char bracket);

/* `bracket` is '}' or ']'. */
void json_writer_close(struct json_writer *writer, char bracket);

void json_writer_text(struct json_writer *writer, const char *name, const char *text); /* NULL: null */
void json_writer_whole(struct json_writer *writer, const char *name, int64_t value);
void json_writer_real(struct json_writer *writer, const char *name, double value); /* as json_put_real */
void json_writer_truth(struct json_writer *writer, const char *name, bool value);
void json_writer_null(struct json_writer *writer, const char *name);

enum { JSON_TIME = 32 };

/* Now, in UTC, as RFC 3339 has it: "2026-11-21T13:40:00.123Z". Returns text. */
char *json_time(char text[JSON_TIME]);

/* Writes a text in quotes. Bytes that are not UTF-8 become U+FFFD. */
void json_put_text(FILE *out, const char *text);

/* Writes a number with as few digits as read back to the same bits, and with a point or an exponent, so that
 * all values of a variable are read as one type. NaN and infinities, which JSON lacks, become null. */
void json_put_real(FILE *out, double value);

#endif
