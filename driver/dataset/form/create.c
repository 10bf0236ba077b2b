/* Creates a dataset file: header, coordinates, fill values. */
#include "driver/dataset/form/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "worker/checkpoint/checkpoint.h"

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

    *definition = (struct definition){.outline = layout_outline(layout), .sweep = layout->sweep};
    definition->row = variable_table(&definition->outline, &definition->count);
    definition_keep(definition, definition->row ? NC_NOERR : NC_ENOMEM);
    if (definition->status == NC_NOERR)
        definition_keep(
            definition, nc__create(path, NC_CLOBBER | NC_64BIT_DATA, 0, &buffer, &definition->file));
    if (definition->status != NC_NOERR)
        return;
    definition_keep(definition, nc_set_fill(definition->file, fill, &before));
    definition_globals(definition, layout);
    definition_variables(definition);
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc__enddef(definition->file, 0, ALIGNMENT, 0, ALIGNMENT));
    if (definition->status != NC_NOERR)
        nc_abort(definition->file);
}

/* ---- values ---- */

/* One of the words of a variable. */
static const char *word_of(const struct definition *definition, const struct variable *row, int64_t index)
{
    const struct axis *axis = &definition->outline.axis[row->which];

    switch (row->kind) {
    case VARIABLE_LABEL:
        return axis->label[index];
    case VARIABLE_PARAM:
        return axis->param[row->param]->words[axis->value[row->param * axis->length + index].integer];
    default:
        return metric_dimension_table[row->which].word(index);
    }
}

static int put_words(struct definition *definition, int id)
{
    const struct variable *row = &definition->row[id];
    size_t width = (size_t)row->width;
    char *block = calloc((size_t)row->length[0], width);

    if (!block)
        return NC_ENOMEM;
    for (int64_t i = 0; i < row->length[0]; i++) {
        const char *word = word_of(definition, row, i);
        memcpy(block + (size_t)i * width, word, strlen(word));
    }
    int status = nc_put_var_text(definition->file, id, block);
    free(block);
    return status;
}

static int put_param(struct definition *definition, int id)
{
    const struct variable *row = &definition->row[id];
    const struct axis *axis = &definition->outline.axis[row->which];
    const union param_value *value = axis->value + row->param * axis->length;
    int status = NC_NOERR;

    for (size_t i = 0; i < (size_t)axis->length && status == NC_NOERR; i++) {
        long long integer = value[i].integer;
        status = row->type == NC_DOUBLE ? nc_put_var1_double(definition->file, id, &i, &value[i].real)
                                        : nc_put_var1_longlong(definition->file, id, &i, &integer);
    }
    return status;
}

/* Goes through doubles, which are exact for integers below 2^53. */
static int put_coordinate(struct definition *definition, int id)
{
    const struct variable *row = &definition->row[id];
    int status = NC_NOERR;

    for (size_t i = 0; i < (size_t)row->length[0] && status == NC_NOERR; i++) {
        double value = row->which == DIMENSION_STEP ? (double)definition->outline.step[i]
                                                    : metric_dimension_table[row->which].number((int64_t)i);
        status = nc_put_var1_double(definition->file, id, &i, &value);
    }
    return status;
}

/* What a variable of runs has in place of a fill value: zeros, and the outcomes of runs that are to come. */
static int put_first(struct definition *definition, int id)
{
    const struct sweep *sweep = definition->sweep;
    const struct variable *row = &definition->row[id];
    signed char *value = calloc((size_t)sweep->cells, sizeof(*value));

    if (!value)
        return NC_ENOMEM;
    for (int64_t cell = 0; row->which == RUN_VARIABLE_outcome && cell < sweep->cells; cell++)
        value[cell] = sweep_skips(sweep, cell) ? OUTCOME_SKIPPED : OUTCOME_PENDING;
    int status = nc_put_var_schar(definition->file, id, value);
    free(value);
    return status;
}

void definition_write(struct definition *definition)
{
    for (int id = 0; id < definition->count && definition->status == NC_NOERR; id++) {
        const struct variable *row = &definition->row[id];
        bool words = row->type == NC_CHAR;
        if (row->kind == VARIABLE_RUN && !words && !row->filled)
            definition_keep(definition, put_first(definition, id));
        else if (row->kind == VARIABLE_PARAM && !words)
            definition_keep(definition, put_param(definition, id));
        else if (row->kind == VARIABLE_COORDINATE && !words)
            definition_keep(definition, put_coordinate(definition, id));
        else if (words && row->kind != VARIABLE_RUN && row->kind != VARIABLE_SESSION)
            definition_keep(definition, put_words(definition, id));
    }
}

/* Writes the header alone, to a file of full length, or all of it. Returns a netCDF status. */
static int write_file(const struct layout *layout, const char *path, bool whole)
{
    struct definition definition;

    definition_begin(&definition, layout, path, whole ? NC_FILL : NC_NOFILL);
    if (definition.status == NC_NOERR) {
        if (whole)
            definition_write(&definition);
        definition_keep(&definition, written_close(definition.file));
    }
    free(definition.row);
    return definition.status;
}

int layout_write(const struct layout *layout, const char *path)
{
    return write_file(layout, path, true);
}

int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH])
{
    int memory = memfd_create("normsweep", MFD_CLOEXEC);

    if (memory < 0)
        return -1;
    snprintf(path, LAYOUT_PATH, "/proc/self/fd/%d", memory);
    if (write_file(layout, path, false) == NC_NOERR)
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
