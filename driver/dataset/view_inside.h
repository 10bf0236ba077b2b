#ifndef NORMSWEEP_DRIVER_DATASET_VIEW_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_VIEW_INSIDE_H

#include <netcdf.h>

#include "driver/dataset/view.h"

/* Shared by the files that implement a view; the rest of the program uses view.h. */

/* Can the library convert values of this type to numbers? Not texts, and not user-defined types of netCDF-4.
 */
bool view_is_number(nc_type type);

/* An attribute that is one number; false: there is none, with errno 0, or it cannot be read. */
bool view_attribute_number(const struct view *view, int variable, const char *name, double *value);

/* The same for a global attribute that is one integer. */
bool view_attribute_integer(const struct view *view, const char *name, int64_t *value);

/* Text `index` of a text variable, row-major over all its dimensions except the last, as it is stored. The
 * caller frees it; NULL: there is none, with errno 0, or it cannot be read. */
char *view_stored_text(const struct view *view, int variable, int64_t index);

#endif
