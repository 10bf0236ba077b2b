#ifndef NORMSWEEP_DRIVER_PICTURE_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_PICTURE_H

#include "driver/dataset/variables.h"
#include "driver/dataset/view.h"
#include "driver/picture/plane.h"
#include "driver/picture/selection.h"
#include "driver/terminal/terminal.h"

/* A picture of a dataset in a terminal. */
struct picture {
    FILE *out;
    struct terminal terminal;
    const struct view *view; /* open */
    struct selection selection; /* the part of the dataset to draw */
};

/* Draws the phase diagram. */
int picture_diagram(const struct picture *picture, struct error *error);

/* Prints "out.nc: what at seed=0: the sweep's title". */
void picture_title(const struct picture *picture, const char *what, const struct shape *shape);

/* Finds a numeric variable of the dataset. -1 and ERROR_INPUT: there is none; the message says what to do. */
int picture_find(
    const struct picture *picture, const char *name, struct view_variable *variable, struct error *error);

enum {
    PICTURE_BESIDE = 4, /* lines on the screen besides a picture: title, this command, the next prompt */
    PICTURE_ABOUT = 512, /* size of "out.nc: param_norm", which errors of the selection begin with */
};

/* Makes the plane of a shape that the selection asks for; fixes the dimensions of the shape that the
 * selection fixes. `what`: name of the variable or picture, for messages. */
int picture_plane(const struct picture *picture, struct plane *plane, struct shape *shape, const char *what,
    struct error *error);

#endif
