#ifndef NORMSWEEP_DRIVER_SWEEP_TOGETHER_H
#define NORMSWEEP_DRIVER_SWEEP_TOGETHER_H

#include "driver/sweep/inside.h"

#define TOGETHER_NAME_MORE 63 /* bytes of a name after its first letter */

enum { TOGETHER_LABEL_LONGEST = 255, TOGETHER_NAME_LONGEST = 1 + TOGETHER_NAME_MORE }; /* bytes */

/* Names of axes as a regular expression: letters, digits and underscores, a letter first. */
#define TOGETHER_NAME_PATTERN TOGETHER_NAME_PATTERN_OF(TOGETHER_NAME_MORE)
#define TOGETHER_NAME_PATTERN_OF(more) "^[A-Za-z][A-Za-z0-9_]{0," TOGETHER_NAME_DIGITS(more) "}$"
#define TOGETHER_NAME_DIGITS(number) #number

/* Reads `together: {axis: {label: {key: value}}}` and adds each axis to the sweep, in order. */
int together_read(struct reader *reader, const struct node *node);

#endif
