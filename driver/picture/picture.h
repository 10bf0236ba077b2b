#ifndef NORMSWEEP_DRIVER_PICTURE_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_PICTURE_H

#include "driver/dataset/variables.h"
#include "driver/dataset/view.h"
#include "driver/picture/plane.h"
#include "driver/picture/selection.h"
#include "driver/terminal/terminal.h"

/* Pictures of a dataset in a terminal. */
struct picture {
    FILE *out;
    struct terminal terminal;
    const struct view *view; /* open */
    struct selection selection; /* what of it is looked at */
};

/* The phase diagram. */
int picture_diagram(const struct picture *picture, struct error *error);

/* Prints "out.nc: what at seed=0: the sweep's title". */
void picture_title(const struct picture *picture, const char *what, const struct shape *shape);

/* Finds a number of the dataset by its name; -1 and ERROR_INPUT where there is none, with what to do about
 * it. */
int picture_find(
    const struct picture *picture, const char *name, struct view_variable *variable, struct error *error);

enum {
    PICTURE_BESIDE = 4, /* lines beside a picture: its title, the command and the next one */
    PICTURE_ABOUT = 512, /* characters of "out.nc: param_norm", before errors of the selection */
};

/* The plane of a shape, called `what`, that the selection says, and fixes in it what that fixes. */
int picture_plane(const struct picture *picture, struct plane *plane, struct shape *shape, const char *what,
    struct error *error);

#endif
