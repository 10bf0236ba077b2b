/*
 * The offsets of values in the file. Values are row-major, cells numbered as in the sweep, numbers
 * big-endian.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/inside.h"
#include "model/core/check.h"

#include <netcdf.h>

#include <stdlib.h>

int dataset_error(const struct dataset *dataset, int status, struct error *error)
{
    return layout_error(error, dataset->name, status);
}

int64_t run_variable_bytes(enum run_variable variable)
{
    const struct run_variable_row *row = &run_variable_table[variable];

    return row->type == STORED_BYTE ? 1 : row->type == STORED_TEXT ? row->width : 8;
}

static int64_t metric_bytes(const struct layout *layout, enum metric metric)
{
    int64_t rows = metric_is_of_run(metric) ? 1 : layout->step_count;

    return 8 * rows * (int64_t)metric_values(metric, &layout->form);
}

int64_t metric_place(const struct dataset *dataset, enum metric metric, int64_t cell, int64_t row)
{
    const struct layout *layout = &dataset->layout;

    INVARIANT(dataset->metric[metric] >= 0 && cell >= 0 && cell <= layout->sweep->cells && row >= 0 &&
                  row < layout->step_count,
        "%s of cell %lld, row %lld", metric_table[metric].name, (long long)cell, (long long)row);
    return dataset->metric[metric] + cell * metric_bytes(layout, metric) +
           8 * row * (int64_t)metric_values(metric, &layout->form);
}

/* The offset of a variable in the file; -1: there is no variable of that name and size. */
static int64_t find_place(int file, const struct extent *extent, const char *name, int64_t bytes)
{
    int variable;

    if (lookup_variable(file, name, &variable) != NC_NOERR || extent[variable].bytes != bytes)
        return -1;
    return extent[variable].begin;
}

/* Where the offset of a variable is kept; NULL: it is not written after the start. */
static int64_t *kept_place(struct dataset *dataset, const struct variable *row)
{
    switch (row->kind) {
    case VARIABLE_RUN:
        return &dataset->run[row->which];
    case VARIABLE_METRIC:
        return &dataset->metric[row->which];
    case VARIABLE_SESSION:
        return row->type == NC_DOUBLE ? &dataset->number[row->which] : NULL;
    default:
        return NULL;
    }
}

int places_find(struct dataset *dataset, int file, struct error *error)
{
    const struct outline outline = layout_outline(&dataset->layout);
    struct extent *extent = layout_extents(dataset->name, error);
    int count = 0;
    struct variable *row = extent ? variable_table(&outline, &count) : NULL;
    int result = row ? 0 : -1;

    if (extent && !row)
        dataset_error(dataset, NC_ENOMEM, error);
    for (int i = 0; i < METRIC_COUNT; i++)
        dataset->metric[i] = -1;
    for (int i = 0; result == 0 && i < count; i++) {
        int64_t *place = kept_place(dataset, &row[i]);
        int64_t each = row[i].of_cells ? dataset->layout.sweep->cells : 1;
        if (place && (*place = find_place(file, extent, row[i].name, each * variable_bytes(&row[i]))) < 0)
            result = layout_refuse(error, dataset->name);
    }
    free(extent);
    free(row);
    return result;
}
