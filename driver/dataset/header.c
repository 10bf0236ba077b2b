/*
 * The dimensions and variables of a dataset file, all from tables. Variables are stored in the order of
 * definition, which matters to concurrent readers. Outcome comes first: a reader that reads the variables in
 * order sees all values of every run that it has seen as ended. Values of 8 bytes come next, each at a
 * multiple of 8, so that a reader never sees half of one: outcome and phase have one byte for each cell,
 * padded to a multiple of 4, so that both together are a multiple of 8. Other bytes, texts and coordinates
 * come last: coordinates are written once.
 */
#include "driver/dataset/definition.h"
#include "driver/dataset/lookup.h"
#include "driver/tables/dataset_tables.h"

#include <netcdf.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t longer(int64_t width, const char *text)
{
    int64_t length = (int64_t)strlen(text);

    return length > width ? length : width;
}

int64_t definition_longest(char **text, int64_t count)
{
    int64_t width = 1;

    for (int64_t i = 0; i < count; i++)
        width = longer(width, text[i]);
    return width;
}

int definition_dimension(struct definition *definition, const char *name, int64_t length)
{
    int dimension = -1;

    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_def_dim(definition->file, name, (size_t)length, &dimension));
    return dimension;
}

/* The dimension of strings of `width` characters, defined on first use. */
static int string_dimension(struct definition *definition, int64_t width)
{
    char name[32];
    int dimension;

    snprintf(name, sizeof(name), STRING_DIMENSION "%lld", (long long)width);
    if (lookup_dimension(definition->file, name, &dimension) == NC_NOERR)
        return dimension;
    return definition_dimension(definition, name, width);
}

int definition_variable(struct definition *definition, const char *name, nc_type type, int64_t width,
    int count, const int *dimensions)
{
    int all[DIMENSIONS_MAX], variable = -1;

    memcpy(all, dimensions, (size_t)count * sizeof(*all));
    if (type == NC_CHAR)
        all[count++] = string_dimension(definition, width);
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

static int64_t longest_word(const struct param *param, const union param_value *value, int64_t count)
{
    int64_t width = 1;

    for (int64_t i = 0; i < count; i++)
        width = longer(width, param->words[value[i].integer]);
    return width;
}

static void add_coordinate(struct definition *definition, const char *name)
{
    char *both;

    if (asprintf(&both, "%s %s", definition->coordinates ? definition->coordinates : "", name) < 0) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    free(definition->coordinates);
    definition->coordinates = both;
}

/* Defines the variable of one parameter along an axis. */
static void define_param(struct definition *definition, int dimension, const struct axis *axis, int64_t which)
{
    const struct param *param = axis->param[which];
    const union param_value *value = axis->value + which * axis->length;
    int64_t width = param->kind == PARAM_WORD ? longest_word(param, value, axis->length) : 0;
    int variable = definition_variable(
        definition, param->name, definition_param_types[param->kind], width, 1, &dimension);

    definition_describe(definition, variable, param->long_name, param->unit, param->help);
    if (param->kind == PARAM_BOOLEAN)
        definition_text(definition, variable, "dtype", "bool");
}

/* Lists the auxiliary coordinates of an axis: words, and all parameters of a together axis. */
static void name_coordinates(struct definition *definition, const struct axis *axis)
{
    if (axis->label)
        add_coordinate(definition, axis->name);
    for (int64_t i = 0; i < axis->param_count; i++)
        if (axis->label || axis->param[i]->kind == PARAM_WORD)
            add_coordinate(definition, axis->param[i]->name);
}

static void define_dimensions(struct definition *definition)
{
    const struct layout *layout = definition->layout;

    for (int64_t i = 0; i < layout->sweep->axis_count; i++) {
        const struct axis *axis = &layout->sweep->axis[i];
        definition->axis[i] = definition_dimension(definition, axis->name, axis->length);
        name_coordinates(definition, axis);
    }
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        int64_t length = i == DIMENSION_STEP ? layout->step_count : layout->form.along[i];
        bool stored = metric_dimension_stored(i, &layout->form, layout->sweep->measure.group);
        definition->dimension[i] =
            stored ? definition_dimension(definition, metric_dimension_table[i].name, length) : -1;
    }
    definition->sessions = definition_dimension(definition, SESSION_DIMENSION, layout->sessions);
}

static void define_axis(struct definition *definition, int64_t index)
{
    const struct axis *axis = &definition->layout->sweep->axis[index];
    int dimension = definition->axis[index];

    if (axis->label) {
        int variable = definition_variable(
            definition, axis->name, NC_CHAR, definition_longest(axis->label, axis->length), 1, &dimension);
        definition_describe(definition, variable, axis->name, "1", "");
    }
    for (int64_t i = 0; i < axis->param_count; i++)
        define_param(definition, dimension, axis, i);
}

/* Letters of the longest word of a coordinate, 1 for numbers. */
static int64_t coordinate_width(const struct metric_dimension_row *row, int64_t length)
{
    int64_t width = 1;

    for (int64_t i = 0; row->word && i < length; i++)
        width = longer(width, row->word(i));
    return width;
}

nc_type definition_dimension_type(enum metric_dimension dimension)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    return row->word ? NC_CHAR : row->is_real ? NC_DOUBLE : NC_INT64;
}

void definition_shared_coordinates(struct definition *definition)
{
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        const struct metric_dimension_row *row = &metric_dimension_table[i];
        if (definition->dimension[i] < 0)
            continue;
        int variable = definition_variable(definition, row->name, definition_dimension_type(i),
            coordinate_width(row, definition->layout->form.along[i]), 1, &definition->dimension[i]);
        definition_describe(definition, variable, row->long_name, "1", row->comment);
    }
}

/* The attribute `coordinates` of a variable over the grid and, behind it, over dimensions [count] of metrics:
 * lists those of words. */
static void put_coordinates(
    struct definition *definition, int variable, int count, const enum metric_dimension *dimension)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    fputs(definition->coordinates ? definition->coordinates : "", out);
    for (int i = 0; i < count; i++)
        if (metric_dimension_table[dimension[i]].word)
            fprintf(out, " %s", metric_dimension_table[dimension[i]].name);
    if (fclose(out) == 0 && text) /* without memory fclose may succeed all the same */
        definition_text(definition, variable, "coordinates", text[0] ? text + 1 : text);
    else
        definition_keep(definition, NC_ENOMEM);
    free(text);
}

static void put_flags(struct definition *definition, int variable, enum run_variable which)
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
            nc_put_att_schar(definition->file, variable, "flag_values", NC_BYTE, (size_t)count, values));
    definition_text(definition, variable, "flag_meanings", meanings);
}

static void put_fill(struct definition *definition, int variable, nc_type type)
{
    if (type == NC_DOUBLE)
        definition_real(definition, variable, "_FillValue", NAN);
    else
        definition_integer(definition, variable, "_FillValue", type, -1);
}

const nc_type definition_storage_types[] = {
    [STORED_BYTE] = NC_BYTE,
    [STORED_INTEGER] = NC_INT64,
    [STORED_REAL] = NC_DOUBLE,
    [STORED_TEXT] = NC_CHAR,
};

static void define_run_variable(struct definition *definition, enum run_variable which)
{
    const struct run_variable_row *row = &run_variable_table[which];
    int axes = (int)definition->layout->sweep->axis_count;
    nc_type type = definition_storage_types[row->type];
    int variable = definition_variable(definition, row->name, type, row->width, axes, definition->axis);

    definition_describe(definition, variable, row->long_name, row->unit, row->comment);
    definition_text(definition, variable, METRIC_NATURE, nature_table[NATURE_RECORD].word);
    put_coordinates(definition, variable, 0, NULL);
    if (row->filled)
        put_fill(definition, variable, type);
    put_flags(definition, variable, which);
}

void definition_metric(struct definition *definition, enum metric metric, int axes, int rank,
    const enum metric_dimension *dimension)
{
    const struct metric_row *row = &metric_table[metric];
    int dimensions[DIMENSIONS_MAX], count = axes;

    memcpy(dimensions, definition->axis, (size_t)count * sizeof(*dimensions));
    for (int i = 0; i < rank; i++)
        dimensions[count++] = definition->dimension[dimension[i]];
    int variable = definition_variable(definition, row->name, NC_DOUBLE, 0, count, dimensions);
    definition_describe(definition, variable, row->long_name, row->unit, row->help);
    definition_text(definition, variable, METRIC_NATURE, nature_table[row->nature].word);
    put_coordinates(definition, variable, rank, dimension);
    put_fill(definition, variable, NC_DOUBLE);
}

static void define_metric(struct definition *definition, enum metric metric)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = metric_dimensions(metric, &definition->layout->form, dimension);

    definition_metric(definition, metric, (int)definition->layout->sweep->axis_count, rank, dimension);
}

static void define_session_variable(struct definition *definition, enum session_variable which)
{
    const struct session_variable_row *row = &session_variable_table[which];
    nc_type type = definition_storage_types[row->type];
    int variable = definition_variable(definition, row->name, type, row->width, 1, &definition->sessions);

    definition_describe(definition, variable, row->long_name, row->unit, "");
    if (row->type == STORED_TEXT)
        return;
    definition_text(definition, variable, METRIC_NATURE, nature_table[NATURE_RECORD].word);
    put_fill(definition, variable, type);
}

/* The part of the file that contains a variable: see the top of this file. */
enum part { PART_FIRST, PART_NUMBERS, PART_REST };

static enum part part_of(enum run_variable which)
{
    if (which == RUN_VARIABLE_outcome || which == RUN_VARIABLE_phase)
        return PART_FIRST;
    enum storage type = run_variable_table[which].type;
    return type == STORED_BYTE || type == STORED_TEXT ? PART_REST : PART_NUMBERS;
}

static void define_run_variables(struct definition *definition, enum part part)
{
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++)
        if (part_of(i) == part)
            define_run_variable(definition, i);
}

void definition_variables(struct definition *definition)
{
    const struct layout *layout = definition->layout;

    define_dimensions(definition);
    define_run_variables(definition, PART_FIRST);
    define_run_variables(definition, PART_NUMBERS);
    for (int i = 0; i < METRIC_COUNT; i++)
        if (layout_has(layout, i))
            define_metric(definition, i);
    for (int i = SESSION_VARIABLE_start; i < SESSION_VARIABLE_COUNT; i++)
        define_session_variable(definition, i);
    define_run_variables(definition, PART_REST);
    for (int64_t i = 0; i < layout->sweep->axis_count; i++)
        define_axis(definition, i);
    definition_shared_coordinates(definition);
    for (int i = 0; i < SESSION_VARIABLE_start; i++)
        define_session_variable(definition, i);
}
