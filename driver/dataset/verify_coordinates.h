#ifndef NORMSWEEP_DRIVER_DATASET_VERIFY_COORDINATES_H
#define NORMSWEEP_DRIVER_DATASET_VERIFY_COORDINATES_H

#include "driver/dataset/verify.h"

/* Checks that the values of each axis differ, that the steps ascend, and that the coordinates of the other
 * dimensions of metrics are as expected. */
int verify_coordinates(const struct view *view, struct error *error);

#endif
