#ifndef NORMSWEEP_DRIVER_PICTURE_H
#define NORMSWEEP_DRIVER_PICTURE_H

#include "driver/view.h"

/* Pictures of a dataset, printed on stdout in 80 columns or the terminal's. */

/* The phase diagram; other axes than its two are averaged over. */
int diagram_show(const struct view *view, struct error *error);

/* A variable, as means over what is not drawn, of flags the most frequent. ERROR_INPUT: it is none. */
int field_show(const struct view *view, const char *name, struct error *error);

#endif
