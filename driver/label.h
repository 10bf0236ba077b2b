#ifndef NORMSWEEP_DRIVER_LABEL_H
#define NORMSWEEP_DRIVER_LABEL_H

#include <stddef.h>

#include "driver/sweep.h"

enum { LABEL_SIZE = 160 };

/* A cell for people: "learning_rate=0.1 model=small", cut where it is longer. Returns text. */
char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE]);

/*
 * The same for a grid of these axes, in `columns` at most: where whole names find no room it is "lr=0.1
 * model=small" without the axes of one value, then the values alone, and what is still too long is cut.
 * Returns text.
 */
char *label_fit(
    int64_t axis_count, const struct axis *axis, int64_t cell, int columns, char text[LABEL_SIZE]);

/* Takes away the beginning of a UTF-8 character that was cut off at the end of a text. Returns text. */
char *label_cut(char *text);

/* Columns that a text takes on a terminal, one for each character of UTF-8; and the bytes of its longest
 * beginning that takes no more than `columns`. */
int label_columns(const char *text);
size_t label_prefix(const char *text, int columns);

#endif
