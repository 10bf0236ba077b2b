#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_PICTURE_H

#include "driver/picture/status.h"
#include "driver/terminal/canvas.h"

/*
 * Prints what there is to see of a sweep, as lines that the canvas has room for.
 */
void status_picture(FILE *out, const struct status *status, const struct canvas *canvas);

#endif
