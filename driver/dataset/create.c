/* Creates a dataset file: header, coordinates, fill values. */
#include "driver/dataset/definition.h"

#include "driver/dataset/create.h"
#include "driver/dataset/lookup.h"
#include "driver/sweep/grid.h"
#include "driver/tables/dataset_tables.h"
#include "worker/checkpoint/written.h"

#include <netcdf.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_BUFFER = 1 << 20, ALIGNMENT = 8 }; /* of the first variable: see header.c */

/* Opens a new file and defines it. */
static void definition_begin(
    struct definition *definition, const struct layout *layout, const char *path, int fill)
{
    size_t buffer = WRITE_BUFFER;
    int before;

    *definition = (struct definition){.layout = layout};
    definition_keep(definition, nc__create(path, NC_CLOBBER | NC_64BIT_DATA, 0, &buffer, &definition->file));
    if (definition->status != NC_NOERR)
        return;
    definition_keep(definition, nc_set_fill(definition->file, fill, &before));
    definition_globals(definition);
    definition_variables(definition);
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc__enddef(definition->file, 0, ALIGNMENT, 0, ALIGNMENT));
    if (definition->status != NC_NOERR)
        nc_abort(definition->file);
}

/* Writes only the header, to a file of full length. Returns a netCDF status. */
static int layout_write_header(const struct layout *layout, const char *path)
{
    struct definition definition;

    definition_begin(&definition, layout, path, NC_NOFILL);
    if (definition.status == NC_NOERR)
        definition_keep(&definition, written_close(definition.file));
    free(definition.coordinates);
    return definition.status;
}

static int variable_named(struct definition *definition, const char *name)
{
    int variable = -1;

    if (definition->status == NC_NOERR)
        definition_keep(definition, lookup_variable(definition->file, name, &variable));
    return variable;
}

/* Strings [count], as wide as the longest one. */
static void write_strings(struct definition *definition, const char *name, char **text, int64_t count)
{
    size_t width = (size_t)definition_longest(text, count), total = (size_t)count * width;
    int variable = variable_named(definition, name);
    char *block = calloc(total, 1);

    if (!block)
        definition_keep(definition, NC_ENOMEM);
    for (int64_t i = 0; block && i < count; i++)
        memcpy(block + (size_t)i * width, text[i], strlen(text[i]));
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_var_text(definition->file, variable, block));
    free(block);
}

static void write_words(struct definition *definition, const struct axis *axis, int64_t which)
{
    const struct param *param = axis->param[which];
    char **text = malloc((size_t)axis->length * sizeof(*text));

    if (!text) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    for (int64_t i = 0; i < axis->length; i++)
        text[i] = (char *)param->words[axis->value[which * axis->length + i].integer];
    write_strings(definition, param->name, text, axis->length);
    free(text);
}

static void write_param(struct definition *definition, const struct axis *axis, int64_t which)
{
    const union param_value *value = axis->value + which * axis->length;
    const struct param *param = axis->param[which];
    int variable = variable_named(definition, param->name);

    if (param->kind == PARAM_WORD) {
        write_words(definition, axis, which);
        return;
    }
    for (size_t i = 0; i < (size_t)axis->length && definition->status == NC_NOERR; i++) {
        long long integer = value[i].integer;
        if (param->kind == PARAM_REAL)
            definition_keep(definition, nc_put_var1_double(definition->file, variable, &i, &value[i].real));
        else
            definition_keep(definition, nc_put_var1_longlong(definition->file, variable, &i, &integer));
    }
}

static void write_dimension_words(
    struct definition *definition, const struct metric_dimension_row *row, int64_t length)
{
    char **text = malloc((size_t)length * sizeof(*text));

    if (!text) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    for (int64_t i = 0; i < length; i++)
        text[i] = (char *)row->word(i);
    write_strings(definition, row->name, text, length);
    free(text);
}

/* Goes through doubles, which are exact for integers below 2^53. */
static void write_dimension(struct definition *definition, enum metric_dimension dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];
    const struct layout *layout = definition->layout;
    int64_t length = dimension == DIMENSION_STEP ? layout->step_count : layout->form.along[dimension];
    int variable = variable_named(definition, row->name);

    if (row->word) {
        write_dimension_words(definition, row, length);
        return;
    }
    for (size_t i = 0; i < (size_t)length && definition->status == NC_NOERR; i++) {
        double value = dimension == DIMENSION_STEP ? (double)layout->step[i] : row->number((int64_t)i);
        definition_keep(definition, nc_put_var1_double(definition->file, variable, &i, &value));
    }
}

void definition_write_shared(struct definition *definition)
{
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (definition->dimension[i] >= 0)
            write_dimension(definition, i);
}

static void write_coordinates(struct definition *definition)
{
    const struct layout *layout = definition->layout;

    for (int64_t i = 0; i < layout->sweep->axis_count; i++) {
        const struct axis *axis = &layout->sweep->axis[i];
        if (axis->label)
            write_strings(definition, axis->name, axis->label, axis->length);
        for (int64_t j = 0; j < axis->param_count; j++)
            write_param(definition, axis, j);
    }
    definition_write_shared(definition);
}

static void write_outcomes(struct definition *definition)
{
    const struct sweep *sweep = definition->layout->sweep;
    int variable = variable_named(definition, run_variable_table[RUN_VARIABLE_outcome].name);
    signed char *outcome = malloc((size_t)sweep->cells);

    if (!outcome)
        definition_keep(definition, NC_ENOMEM);
    for (int64_t cell = 0; outcome && cell < sweep->cells; cell++)
        outcome[cell] = sweep_skips(sweep, cell) ? OUTCOME_SKIPPED : OUTCOME_PENDING;
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_var_schar(definition->file, variable, outcome));
    free(outcome);
}

/* Writes the variables that have no fill value for every cell. */
static void write_cells(struct definition *definition)
{
    long long *zero = calloc((size_t)definition->layout->sweep->cells, sizeof(*zero));

    if (!zero)
        definition_keep(definition, NC_ENOMEM);
    for (int i = 0; i < RUN_VARIABLE_COUNT && definition->status == NC_NOERR; i++) {
        const struct run_variable_row *row = &run_variable_table[i];
        if (!row->filled && row->type != STORED_TEXT)
            definition_keep(definition,
                nc_put_var_longlong(definition->file, variable_named(definition, row->name), zero));
    }
    free(zero);
    write_outcomes(definition);
}

int layout_write(const struct layout *layout, const char *path)
{
    struct definition definition;

    definition_begin(&definition, layout, path, NC_FILL);
    if (definition.status == NC_NOERR) {
        write_coordinates(&definition);
        write_cells(&definition);
        definition_keep(&definition, written_close(definition.file));
    }
    free(definition.coordinates);
    return definition.status;
}

int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH])
{
    int memory = memfd_create("normsweep", MFD_CLOEXEC);

    if (memory < 0)
        return -1;
    snprintf(path, LAYOUT_PATH, "/proc/self/fd/%d", memory);
    if (layout_write_header(layout, path) == NC_NOERR)
        return memory;
    close(memory);
    return -1;
}

void layout_measure(struct layout *layout)
{
    char path[LAYOUT_PATH];
    int memory = layout_in_memory(layout, path);
    struct stat stat;

    layout->bytes = -1;
    if (memory < 0)
        return;
    if (fstat(memory, &stat) == 0)
        layout->bytes = (int64_t)stat.st_size;
    close(memory);
}

double dataset_size(const struct sweep *sweep, const struct corpus *corpus)
{
    struct layout layout;
    struct error error;

    if (layout_init(&layout, sweep, corpus, &error) != 0)
        return NAN;
    layout_measure(&layout);
    double bytes = layout.bytes < 0 ? NAN : (double)layout.bytes;
    layout_release(&layout);
    return bytes;
}
