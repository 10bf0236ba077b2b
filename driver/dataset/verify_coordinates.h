#ifndef NORMSWEEP_DRIVER_DATASET_VERIFY_COORDINATES_H
#define NORMSWEEP_DRIVER_DATASET_VERIFY_COORDINATES_H

#include "driver/dataset/verify.h"

/* The axes, whose values differ, the steps, which ascend, and the coordinates of metrics' other dimensions.
 */
int verify_coordinates(const struct view *view, struct error *error);

#endif
