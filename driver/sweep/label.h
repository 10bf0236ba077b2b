#ifndef NORMSWEEP_DRIVER_SWEEP_LABEL_H
#define NORMSWEEP_DRIVER_SWEEP_LABEL_H

#include "driver/sweep/sweep.h"

enum { LABEL_SIZE = 160 };

/* A cell for people: "learning_rate=0.1 model=small", cut where it is longer. Returns text. */
char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE]);

/* How much of its axes' names a label has. */
enum naming {
    NAMING_WHOLE,
    NAMING_INITIALS, /* "lr=0.1 model=small": numbers to four digits, without the axes of one value */
    NAMING_NONE, /* "0.1 small", likewise */
    NAMING_COUNT,
};

/* The same for a grid of these axes. Returns text. */
char *label_named(
    int64_t axis_count, const struct axis *axis, int64_t cell, enum naming naming, char text[LABEL_SIZE]);

/* With as much of the names as `columns` have room for; what is still too long is cut. Returns text. */
char *label_fit(
    int64_t axis_count, const struct axis *axis, int64_t cell, int columns, char text[LABEL_SIZE]);

/* Takes away the beginning of a UTF-8 character that was cut off at the end of a text. Returns text. */
char *label_cut(char *text);

/* Cuts a text to so many columns, the last of them a '~' that says so. Returns text. */
char *label_shorten(char *text, int columns);

/* "0.001", "pre", "small": the value of an axis at an index, fit for a terminal. Returns text. */
char *label_axis_value(const struct axis *axis, int64_t index, char *text, size_t size);

#endif
