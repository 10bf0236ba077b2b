#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_ATTRIBUTES_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_ATTRIBUTES_H

#include "driver/dataset/variables.h"

/* A global attribute that is a text; the caller's to free, NULL where there is none. */
char *view_text(const struct view *view, const char *name);

/* The same of a variable. */
char *view_variable_text(const struct view *view, const struct view_variable *variable, const char *name);

#endif
