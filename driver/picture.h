#ifndef NORMSWEEP_DRIVER_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_H

#include "driver/view.h"

/* Pictures of a dataset, printed on stdout in 80 columns or the terminal's. */

/* The phase diagram; other axes than its two are averaged over. */
int diagram_show(const struct view *view, struct error *error);

/* A variable; ERROR_INPUT names those that there are. */
int field_show(const struct view *view, const char *name, struct error *error);

#endif
