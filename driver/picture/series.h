#ifndef NORMSWEEP_DRIVER_PICTURE_SERIES_H
#define NORMSWEEP_DRIVER_PICTURE_SERIES_H

#include "driver/picture/picture.h"

/* A variable over steps, as lines. ERROR_INPUT: it is none, or has no steps. */
int picture_series(const struct picture *picture, const char *name, struct error *error);

#endif
