#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_PICTURE_H

#include "driver/picture/run_lines.h"
#include "driver/picture/status.h"
#include "driver/terminal/canvas.h"

/* Prints the state of a sweep as lines that fit the canvas. `naming`: of the runs in the picture before. */
void status_picture(
    FILE *out, const struct status *status, const struct canvas *canvas, struct run_naming *naming);

#endif
