#include "driver/dataset/boundary_variables.h"

#include "driver/dataset/definition.h"
#include "driver/dataset/ledger.h"
#include "driver/dataset/lookup.h"
#include "driver/dataset/verify.h"
#include "driver/sweep/boundary.h"

#include <math.h>
#include <string.h>

int64_t boundary_variable_values(const struct sweep *sweep, enum boundary_variable variable)
{
    int64_t axis[AXES_MAX], count = boundary_axes(sweep, boundary_variable_table[variable].over, axis);

    return count < 0 ? 0 : boundary_size(sweep, count, axis);
}

static int put_bytes(struct dataset *dataset, int64_t place, const double *values, int64_t count)
{
    int status = 0;

    for (int64_t i = 0; status == 0 && i < count; i++) {
        signed char byte = isnan(values[i]) ? -1 : (signed char)values[i];
        status = write_buffer_put(&dataset->buffer, place + i, &byte, 1);
    }
    return status;
}

int dataset_put_boundary(
    struct dataset *dataset, enum boundary_variable variable, const double *values, struct error *error)
{
    int64_t count = boundary_variable_values(dataset->layout.sweep, variable);
    int64_t place = dataset->boundary[variable];
    int status = boundary_variable_table[variable].type == STORED_BYTE
                     ? put_bytes(dataset, place, values, count)
                     : dataset_put_numbers(dataset, place, values, (size_t)count);

    return status == 0 ? 0 : dataset_error(dataset, status, error);
}

bool is_boundary_variable(const char *name)
{
    for (int i = 0; i < BOUNDARY_VARIABLE_COUNT; i++)
        if (strcmp(name, boundary_variable_table[i].name) == 0)
            return true;
    return false;
}

/* Is a variable of the file over this axis? */
static bool is_over(const struct view *view, int variable, const char *axis)
{
    int count = 0, dimensions[NC_MAX_VAR_DIMS];
    char name[NC_MAX_NAME + 1];

    if (nc_inq_var(view->file, variable, NULL, NULL, &count, dimensions, NULL) != NC_NOERR)
        return false;
    for (int i = 0; i < count; i++)
        if (nc_inq_dimname(view->file, dimensions[i], name) == NC_NOERR && strcmp(name, axis) == 0)
            return true;
    return false;
}

/* Over which axes it is depends on what the sweep looked for, but they are axes of the grid in their order.
 */
int verify_boundary(const struct view *view, struct error *error)
{
    for (int i = 0; i < BOUNDARY_VARIABLE_COUNT; i++) {
        const struct boundary_variable_row *row = &boundary_variable_table[i];
        struct variable_form form = {.type = definition_storage_types[row->type]};
        int variable;
        if (lookup_variable(view->file, row->name, &variable) != NC_NOERR)
            continue;
        for (int64_t j = 0; j < view->axis_count; j++)
            if (is_over(view, variable, view->axis[j].name))
                form.dimension[form.rank++] = view->axis[j].name;
        if (verify_variable(view, row->name, &form, error) != 0)
            return -1;
    }
    return 0;
}

bool boundary_variables_fit(const struct view *view, const struct sweep *sweep)
{
    for (int i = 0; i < BOUNDARY_VARIABLE_COUNT; i++) {
        int64_t axis[AXES_MAX], count = boundary_axes(sweep, boundary_variable_table[i].over, axis);
        int variable, rank = 0;
        bool there = lookup_variable(view->file, boundary_variable_table[i].name, &variable) == NC_NOERR;
        if (there != (count >= 0))
            return false;
        if (there && (nc_inq_varndims(view->file, variable, &rank) != NC_NOERR || rank != count))
            return false;
        for (int64_t j = 0; j < count; j++)
            if (!is_over(view, variable, sweep->axis[axis[j]].name))
                return false;
    }
    return true;
}
