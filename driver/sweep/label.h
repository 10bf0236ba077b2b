#ifndef NORMSWEEP_DRIVER_SWEEP_LABEL_H
#define NORMSWEEP_DRIVER_SWEEP_LABEL_H

#include "driver/sweep/sweep.h"
#include "driver/text/json_writer.h"

enum { LABEL_SIZE = 160 };

/*
 * People read the values of an axis everywhere, in pictures and messages, with as many digits as tell them
 * apart on this axis, and --at takes them so.
 */

/* The number of significant digits, at least 3, with which all numbers differ. */
int label_digits(const double *number, int64_t length);

/* A number with so many digits; integers with all. Returns text. */
char *label_number(double value, int digits, char *text, size_t size);

/* A cell for people: "learning_rate=0.1 model=small", cut if it is longer. Returns text. */
char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE]);

/* How a label names its axes. */
enum naming {
    NAMING_WHOLE,
    NAMING_INITIALS, /* "lr=0.1 model=small": no axes of one value */
    NAMING_NONE, /* "0.1 small", likewise */
    NAMING_COUNT,
};

/* Cell `cell` of a grid with these axes. Returns text. */
char *label_named(
    int64_t axis_count, const struct axis *axis, int64_t cell, enum naming naming, char text[LABEL_SIZE]);

/* The same with the longest naming that fits in `columns`; cut if none fits. Returns text. */
char *label_fit(
    int64_t axis_count, const struct axis *axis, int64_t cell, int columns, char text[LABEL_SIZE]);

/* Removes an incomplete UTF-8 character at the end of a text. Returns text. */
char *label_cut(char *text);

/* Cuts a text that is wider than `columns`; its last column is then a '~'. Returns text. */
char *label_shorten(char *text, int columns);

/* The shortest text that reads as the same number: "10", where param_format, which digests are made from,
 * writes 1e+01. Returns text. */
char *label_real(double value, char *text, size_t size);

/* "0.001", "pre", "small": the value of an axis at an index with all its digits, safe for a terminal. Returns
 * text. */
char *label_axis_value(const struct axis *axis, int64_t index, char *text, size_t size);

/* Writes "cell": 3, "axes": {"learning_rate": 0.1, "model": "small"} into an open object: the number of a
 * cell of a grid with these axes, and the value of each axis there. */
void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell);

#endif
