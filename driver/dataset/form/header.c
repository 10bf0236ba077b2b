/* Defines the dimensions and variables of a dataset file, with their attributes. */
#include "driver/dataset/form/inside.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"

#include <netcdf.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int definition_dimension(struct definition *definition, const char *name, int64_t length)
{
    int dimension = -1;

    if (definition->status == NC_NOERR && lookup_dimension(definition->file, name, &dimension) != NC_NOERR)
        definition_keep(definition, nc_def_dim(definition->file, name, (size_t)length, &dimension));
    return dimension;
}

int definition_variable(struct definition *definition, const char *name, nc_type type, int64_t width,
    int count, const int *dimensions)
{
    int all[DIMENSIONS_MAX], variable = -1;
    char string[32];

    memcpy(all, dimensions, (size_t)count * sizeof(*all));
    if (type == NC_CHAR) {
        snprintf(string, sizeof(string), STRING_DIMENSION "%lld", (long long)width);
        all[count++] = definition_dimension(definition, string, width);
    }
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_def_var(definition->file, name, type, count, all, &variable));
    if (type == NC_CHAR)
        definition_text(definition, variable, "_Encoding", "utf-8");
    return variable;
}

void definition_describe(
    struct definition *definition, int variable, const char *long_name, const char *unit, const char *comment)
{
    definition_text(definition, variable, "long_name", long_name);
    definition_text(definition, variable, "units", unit);
    definition_text(definition, variable, "comment", comment);
}

/* Is a variable an auxiliary coordinate of the grid: words, or anything along a `together` axis? */
static bool is_auxiliary(const struct definition *definition, const struct variable *variable)
{
    return variable->kind == VARIABLE_LABEL ||
           (variable->kind == VARIABLE_PARAM &&
               (variable->type == NC_CHAR || definition->outline.axis[variable->which].label));
}

/* The attribute `coordinates` of a variable over the grid: the auxiliary ones of the grid, and those of words
 * along its own dimensions. */
static void put_coordinates(struct definition *definition, int id, const struct variable *of)
{
    const struct variable *row = definition->row;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    for (int i = 0; i < definition->count; i++)
        if (is_auxiliary(definition, &row[i]))
            fprintf(out, " %s", row[i].name);
    for (int i = 0; i < of->rank; i++)
        for (int j = 0; j < definition->count; j++)
            if (row[j].kind == VARIABLE_COORDINATE && row[j].type == NC_CHAR &&
                strcmp(row[j].name, of->dimension[i]) == 0)
                fprintf(out, " %s", row[j].name);
    if (fclose(out) == 0 && text) /* without memory fclose may succeed all the same */
        definition_text(definition, id, "coordinates", text[0] ? text + 1 : text);
    else
        definition_keep(definition, NC_ENOMEM);
    free(text);
}

static void put_flags(struct definition *definition, int id, enum run_variable which)
{
    int count;
    const char *const *words = run_variable_flags(which, &count);
    signed char values[OUTCOME_COUNT + PHASE_COUNT + DYNAMICS_COUNT];
    char meanings[256] = "";

    if (count == 0)
        return;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(meanings);
        values[i] = (signed char)i;
        snprintf(meanings + length, sizeof(meanings) - length, "%s%s", i ? " " : "", words[i]);
    }
    if (definition->status == NC_NOERR)
        definition_keep(definition,
            nc_put_att_schar(definition->file, id, "flag_values", NC_BYTE, (size_t)count, values));
    definition_text(definition, id, "flag_meanings", meanings);
}

static void define(struct definition *definition, const struct variable *row)
{
    const struct outline *outline = &definition->outline;
    int dimension[DIMENSIONS_MAX], count = 0;

    for (int64_t i = 0; row->of_cells && i < outline->axis_count; i++)
        dimension[count++] = definition_dimension(definition, outline->axis[i].name, outline->axis[i].length);
    for (int i = 0; i < row->rank; i++)
        dimension[count++] = definition_dimension(definition, row->dimension[i], row->length[i]);
    int id = definition_variable(definition, row->name, row->type, row->width, count, dimension);
    INVARIANT(
        definition->status != NC_NOERR || id == row - definition->row, "%s is variable %d", row->name, id);
    definition_describe(definition, id, row->long_name, row->unit, row->comment);
    if (row->kind == VARIABLE_PARAM && row->type == NC_BYTE)
        definition_text(definition, id, "dtype", "bool");
    if (row->nature)
        definition_text(definition, id, METRIC_NATURE, row->nature);
    if (row->of_cells)
        put_coordinates(definition, id, row);
    if (row->filled && (row->type == NC_DOUBLE || row->type == NC_FLOAT))
        definition_real(definition, id, "_FillValue", row->type, NAN);
    else if (row->filled)
        definition_integer(definition, id, "_FillValue", row->type, -1);
    if (row->kind == VARIABLE_RUN)
        put_flags(definition, id, (enum run_variable)row->which);
}

void definition_variables(struct definition *definition)
{
    const struct outline *outline = &definition->outline;

    for (int64_t i = 0; i < outline->axis_count; i++)
        definition_dimension(definition, outline->axis[i].name, outline->axis[i].length);
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (outline->dimension[i])
            definition_dimension(definition, metric_dimension_table[i].name,
                i == DIMENSION_STEP ? outline->step_count : outline->form->along[i]);
    if (outline->sessions > 0)
        definition_dimension(definition, SESSION_DIMENSION, outline->sessions);
    for (int i = 0; i < definition->count; i++)
        define(definition, &definition->row[i]);
}
