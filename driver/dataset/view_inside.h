#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_INSIDE_H

#include <netcdf.h>

#include "driver/dataset/view.h"

/* What the files of a view share; the rest of the program sees view.h. */

/* Does the library convert values of this type to a number? Texts and types of a netCDF-4 file's own: no. */
bool view_is_number(nc_type type);

/* An attribute that is one number; false where there is none. */
bool view_attribute_number(const struct view *view, int variable, const char *name, double *value);

/* Text `index` of a text variable, row-major over all its dimensions but the last, as it is stored; the
 * caller's to free, NULL: there is none. */
char *view_stored_text(const struct view *view, int variable, int64_t index);

#endif
