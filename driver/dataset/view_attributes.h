#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_ATTRIBUTES_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_ATTRIBUTES_H

#include "driver/dataset/variables.h"

/* A global attribute that is a text. The caller frees it; NULL: there is none, with errno 0, or ENOMEM. */
char *view_text(const struct view *view, const char *name);

/* The same for an attribute of a variable. */
char *view_variable_text(const struct view *view, const struct view_variable *variable, const char *name);

#endif
