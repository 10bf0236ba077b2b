#ifndef NORMSWEEP_DRIVER_DATASET_BOUNDARY_VARIABLES_H
#define NORMSWEEP_DRIVER_DATASET_BOUNDARY_VARIABLES_H

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

/* The variables of the boundary in a dataset. They are never copied to a new file: they are computed again.
 */

/* The number of values of a variable; 0: the sweep does not have it. */
int64_t boundary_variable_values(const struct sweep *sweep, enum boundary_variable variable);

/* Writes all values of a variable that the sweep has; a byte is written as -1 where the value is NaN. Visible
 * at the next flush, without a sync. */
int dataset_put_boundary(
    struct dataset *dataset, enum boundary_variable variable, const double *values, struct error *error);

bool is_boundary_variable(const char *name);

/* Checks type and dimensions of those that a file has. -1 with ERROR_INPUT; the message names the fault. */
int verify_boundary(const struct view *view, struct error *error);

/* Has the file, which is verified, exactly those that the sweep has, over the same axes? */
bool boundary_variables_fit(const struct view *view, const struct sweep *sweep);

#endif
