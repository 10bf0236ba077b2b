#ifndef NORMSWEEP_DRIVER_PICTURE_SERIES_H
#define NORMSWEEP_DRIVER_PICTURE_SERIES_H

#include "driver/picture/picture.h"

/* Draws a variable over steps, as lines. -1 and ERROR_INPUT: there is no such variable, or it has no
 * steps. */
int picture_series(const struct picture *picture, const char *name, struct error *error);

#endif
