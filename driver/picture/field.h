#ifndef NORMSWEEP_DRIVER_PICTURE_FIELD_H
#define NORMSWEEP_DRIVER_PICTURE_FIELD_H

#include "driver/picture/picture.h"

/* Draws a variable over two of its dimensions, a panel for each combination of the other axes of the sweep
 * but the seed; means over what is left, or the most frequent flag. -1 and ERROR_INPUT: there is no such
 * variable, or it is a text. */
int picture_field(const struct picture *picture, const char *name, struct error *error);

#endif
