#ifndef NORMSWEEP_DRIVER_SWEEP_TOGETHER_H
#define NORMSWEEP_DRIVER_SWEEP_TOGETHER_H

#include "driver/sweep/reader.h"

enum { TOGETHER_LABEL_LONGEST = 255, TOGETHER_NAME_LONGEST = 64 }; /* bytes */

/* Names of axes as a regular expression: letters, digits and underscores, a letter first. */
#define TOGETHER_NAME_PATTERN "^[A-Za-z][A-Za-z0-9_]{0,63}$"

/* Reads `together: {axis: {label: {key: value}}}` and adds each axis to the sweep, in order. */
int together_read(struct reader *reader, const struct node *node);

#endif
