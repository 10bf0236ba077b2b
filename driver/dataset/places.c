/*
 * The offsets of values in the file. Values are row-major, cells numbered as in the sweep, numbers
 * big-endian.
 */
#include "driver/dataset/check.h"
#include "driver/dataset/ledger.h"
#include "driver/dataset/lookup.h"
#include "model/core/check.h"

#include <netcdf.h>

#include <stdlib.h>

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

int places_find(struct dataset *dataset, int file, struct error *error)
{
    struct extent *extent = layout_extents(dataset->name, error);
    int64_t cells = dataset->layout.sweep->cells;
    bool found = true;

    if (!extent)
        return -1;
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++) {
        dataset->run[i] = find_place(file, extent, run_variable_table[i].name, run_variable_bytes(i) * cells);
        found = found && dataset->run[i] >= 0;
    }
    for (int i = 0; i < METRIC_COUNT; i++) {
        dataset->metric[i] = -1;
        if (!layout_has(&dataset->layout, i))
            continue;
        dataset->metric[i] =
            find_place(file, extent, metric_table[i].name, metric_bytes(&dataset->layout, i) * cells);
        found = found && dataset->metric[i] >= 0;
    }
    for (int i = SESSION_NUMBER_FIRST; i < SESSION_VARIABLE_COUNT; i++) {
        dataset->number[i] =
            find_place(file, extent, session_variable_table[i].name, 8 * dataset->layout.sessions);
        found = found && dataset->number[i] >= 0;
    }
    free(extent);
    return found ? 0 : layout_refuse(error, dataset->name);
}
