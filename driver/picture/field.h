#ifndef NORMSWEEP_DRIVER_PICTURE_FIELD_H
#define NORMSWEEP_DRIVER_PICTURE_FIELD_H

#include "driver/picture/picture.h"

/* A variable over two of its dimensions, as means over what is not drawn, of flags the most frequent.
 * ERROR_INPUT: it is none. */
int picture_field(const struct picture *picture, const char *name, struct error *error);

#endif
