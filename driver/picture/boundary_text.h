#ifndef NORMSWEEP_DRIVER_PICTURE_BOUNDARY_TEXT_H
#define NORMSWEEP_DRIVER_PICTURE_BOUNDARY_TEXT_H

#include "driver/picture/picture.h"

/*
 * Lines on the slope of the boundary, its interval, and the predictions that it rejects, for the part of the
 * grid that `shape`, of its axes, does not fix; they name what crosses unless it is norm_growth at 1. "" if
 * the dataset has none, or one of the axes over which the slope is found is fixed. The caller frees it; NULL
 * with the error set.
 */
char *boundary_text(const struct picture *picture, const struct shape *shape, struct error *error);

#endif
