/*
 * Datasets are kept for months, and other programs write netCDF too. A file that another program has changed
 * is refused here, with the name of what is wrong, before a start copies it or writes into it: a text in
 * place of a number would overrun a buffer, attempts of another type would make an extended file lose its
 * runs.
 *
 * The expected variables come from the tables from which a new file is made.
 */
#include "driver/dataset/verify.h"

#include "driver/dataset/check.h"
#include "driver/dataset/conversion.h"
#include "driver/dataset/definition.h"
#include "driver/dataset/lookup.h"
#include "driver/dataset/verify_coordinates.h"
#include "driver/dataset/view_attributes.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/label.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS_TEXT = 256, FAULT_TEXT = 800 };

int verify_fault(struct error *error, const struct view *view, const char *format, ...)
{
    char fault[FAULT_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault, sizeof(fault), format, arguments);
    va_end(arguments);
    return error_set(error, ERROR_INPUT, "%s: %s; " PROGRAM " did not write this", view->name, fault);
}

/* ---- the form of a variable ---- */

static const char *type_name(const struct view *view, nc_type type, char name[NC_MAX_NAME + 1])
{
    if (nc_inq_type(view->file, type, name, NULL) != NC_NOERR)
        snprintf(name, NC_MAX_NAME + 1, "%d", (int)type);
    return name;
}

/* "seed, learning_rate, 64 characters" */
static void join_names(char text[DIMENSIONS_TEXT], const char *name)
{
    size_t used = strlen(text);

    snprintf(text + used, DIMENSIONS_TEXT - used, "%s%s", used ? ", " : "", name);
}

static void expected_dimensions(const struct variable_form *form, char text[DIMENSIONS_TEXT])
{
    char width[64] = "characters";

    text[0] = '\0';
    for (int i = 0; i < form->rank; i++)
        join_names(text, form->dimension[i]);
    if (form->width)
        snprintf(width, sizeof(width), "%lld characters", (long long)form->width);
    if (form->type == NC_CHAR)
        join_names(text, width);
}

/* The dimensions in the file; *match: they are the expected ones. */
static void found_dimensions(const struct view *view, const struct variable_form *form, int count,
    const int *dimensions, char text[DIMENSIONS_TEXT], bool *match)
{
    bool texts = form->type == NC_CHAR;

    text[0] = '\0';
    *match = count == form->rank + texts;
    for (int i = 0; i < count; i++) {
        char name[NC_MAX_NAME + 1] = "";
        size_t length = 0;
        nc_inq_dim(view->file, dimensions[i], name, &length);
        bool width = texts && i == count - 1;
        if (width) {
            *match = *match && (form->width == 0 || (size_t)form->width == length);
            snprintf(name, sizeof(name), "%zu characters", length);
        } else {
            *match = *match && i < form->rank && strcmp(name, form->dimension[i]) == 0;
        }
        join_names(text, name);
    }
}

int verify_variable(
    const struct view *view, const char *name, const struct variable_form *form, struct error *error)
{
    char here[NC_MAX_NAME + 1], there[NC_MAX_NAME + 1];
    char expected[DIMENSIONS_TEXT], found[DIMENSIONS_TEXT];
    int variable, count, dimensions[NC_MAX_VAR_DIMS], status = lookup_variable(view->file, name, &variable);
    nc_type type;
    bool match;

    if (status == NC_ENOTVAR)
        return verify_fault(error, view, "%s is missing", name);
    if (status == NC_NOERR)
        status = nc_inq_var(view->file, variable, NULL, &type, &count, dimensions, NULL);
    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    if (type != form->type)
        return verify_fault(error, view, "%s is of type %s and not %s", name, type_name(view, type, there),
            type_name(view, form->type, here));
    found_dimensions(view, form, count, dimensions, found, &match);
    if (match)
        return 0;
    expected_dimensions(form, expected);
    return verify_fault(error, view, "%s is over (%s) and not over (%s)", name, found, expected);
}

/* The form of a variable over the grid. */
static struct variable_form grid_form(const struct view *view, nc_type type)
{
    struct variable_form form = {.type = type};

    for (int64_t i = 0; i < view->axis_count; i++)
        form.dimension[form.rank++] = view->axis[i].name;
    return form;
}

/* ---- values of runs ---- */

/* The allowed numbers of a variable; `filled` variables may also be -1. */
static void bounds_of(enum run_variable which, long long *least, long long *most)
{
    int flags;

    run_variable_flags(which, &flags);
    *least = run_variable_table[which].filled ? -1 : 0;
    *most = flags ? flags - 1 : run_variable_table[which].filled ? LLONG_MAX : INT_MAX - 1;
}

/* The numbers [cells] of a variable over the grid, as stored. The caller frees them; NULL with the error set.
 */
static long long *read_stored(const struct view *view, const char *name, struct error *error)
{
    long long *value = malloc((size_t)view->cells * sizeof(*value));
    int variable, status = value ? lookup_variable(view->file, name, &variable) : NC_ENOMEM;

    if (status == NC_NOERR)
        status = nc_get_var_longlong(view->file, variable, value);
    if (status == NC_NOERR)
        return value;
    free(value);
    layout_error(error, view->name, status);
    return NULL;
}

static int verify_bounds(const struct view *view, enum run_variable which, struct error *error)
{
    const char *name = run_variable_table[which].name;
    long long least, most, *value = read_stored(view, name, error);
    char label[LABEL_SIZE];
    int result = value ? 0 : -1;

    bounds_of(which, &least, &most);
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++)
        if (value[cell] < least || value[cell] > most)
            result =
                verify_fault(error, view, "%s is %lld at %s and not from %lld to %lld", name, value[cell],
                    label_named(view->axis_count, view->axis, cell, NAMING_WHOLE, label), least, most);
    free(value);
    return result;
}

static int verify_run_variable(const struct view *view, enum run_variable which, struct error *error)
{
    const struct run_variable_row *row = &run_variable_table[which];
    struct variable_form form = grid_form(view, definition_storage_types[row->type]);

    form.width = row->width;
    if (verify_variable(view, row->name, &form, error) != 0)
        return -1;
    bool whole = row->type == STORED_BYTE || row->type == STORED_INTEGER;
    return whole ? verify_bounds(view, which, error) : 0;
}

static bool has_ended(long long outcome)
{
    return outcome == OUTCOME_DONE || outcome == OUTCOME_DIVERGED || outcome == OUTCOME_FAILED;
}

/*
 * A run that has ended must have attempts: an extended file takes over only runs that were started. A run
 * under way may lack them: a flush writes in the order of offsets, and the process may be killed in the
 * middle of it.
 */
static int verify_starts(const struct view *view, struct error *error)
{
    long long *outcome = read_stored(view, run_variable_table[RUN_VARIABLE_outcome].name, error);
    long long *attempts =
        outcome ? read_stored(view, run_variable_table[RUN_VARIABLE_attempts].name, error) : NULL;
    char label[LABEL_SIZE];
    int result = attempts ? 0 : -1;

    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++)
        if (has_ended(outcome[cell]) && attempts[cell] == 0)
            result = verify_fault(error, view, "attempts is 0 at %s, where outcome is %s",
                label_named(view->axis_count, view->axis, cell, NAMING_WHOLE, label),
                outcome_words[outcome[cell]]);
    free(outcome);
    free(attempts);
    return result;
}

static int verify_runs(const struct view *view, struct error *error)
{
    for (enum run_variable i = 0; i < RUN_VARIABLE_COUNT; i++)
        if (verify_run_variable(view, i, error) != 0)
            return -1;
    return verify_starts(view, error);
}

/* ---- metrics and sessions ---- */

static int verify_metrics(const struct view *view, struct error *error)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        enum metric_dimension dimension[METRIC_RANK_MOST];
        int rank = metric_dimensions(metric, &view->form, dimension);
        struct variable_form form = grid_form(view, NC_DOUBLE);
        for (int i = 0; i < rank; i++)
            form.dimension[form.rank++] = metric_dimension_table[dimension[i]].name;
        if (lookup_has_variable(view->file, metric_table[metric].name) &&
            verify_variable(view, metric_table[metric].name, &form, error) != 0)
            return -1;
    }
    return 0;
}

static int verify_sessions(const struct view *view, struct error *error)
{
    for (int i = 0; i < SESSION_VARIABLE_COUNT; i++) {
        const struct session_variable_row *row = &session_variable_table[i];
        struct variable_form form = {definition_storage_types[row->type], 1, {SESSION_DIMENSION}, row->width};
        if (verify_variable(view, row->name, &form, error) != 0)
            return -1;
    }
    return 0;
}

/* ---- attributes ---- */

/* Every parameter that is not an axis is an attribute. */
static int verify_params(const struct view *view, struct error *error)
{
    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        union param_value value;
        if (axis_find(view->axis_count, view->axis, param) || view_param(view, param, &value))
            continue;
        if (errno)
            return layout_error(error, view->name, errno);
        bool there = lookup_attribute(view->file, NC_GLOBAL, param->name, NULL, NULL) != NC_ENOTATT;
        return verify_fault(error, view, "the attribute %s %s", param->name,
            there ? "has a value that the key cannot have" : "is missing");
    }
    return 0;
}

/* Checks the texts that a start compares with its own. */
static int verify_texts(const struct view *view, struct error *error)
{
    static const char *const compared[] = {
        ATTRIBUTE_MEASURE, ATTRIBUTE_VALIDATE, ATTRIBUTE_DATA, ATTRIBUTE_PRECISION};

    for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++) {
        char *text = view_text(view, compared[i]);
        bool there = text != NULL;
        free(text); /* keeps errno */
        if (!there && errno)
            return layout_error(error, view->name, errno);
        if (!there)
            return verify_fault(error, view, "the attribute %s is not a text", compared[i]);
    }
    return 0;
}

/* ---- alignment ---- */

static bool is_aligned(const struct view *view, const struct extent *extent, const char *name)
{
    int variable;

    return lookup_variable(view->file, name, &variable) != NC_NOERR || extent[variable].begin % 8 == 0;
}

bool verify_alignment(const struct view *view)
{
    struct error ignored;
    struct extent *extent = layout_extents(view->name, &ignored);
    bool aligned = extent != NULL;

    for (int i = 0; aligned && i < RUN_VARIABLE_COUNT; i++) {
        enum storage type = run_variable_table[i].type;
        bool wide = type == STORED_INTEGER || type == STORED_REAL;
        aligned = !wide || is_aligned(view, extent, run_variable_table[i].name);
    }
    for (int i = 0; aligned && i < METRIC_COUNT; i++)
        aligned = is_aligned(view, extent, metric_table[i].name);
    for (int i = SESSION_NUMBER_FIRST; aligned && i < SESSION_VARIABLE_COUNT; i++)
        aligned = is_aligned(view, extent, session_variable_table[i].name);
    free(extent);
    return aligned;
}

/* ---- the whole file ---- */

static int refuse_copy(const struct view *view, struct error *error)
{
    char *command = conversion_back(view->name, true);

    if (!command)
        return layout_error(error, view->name, NC_ENOMEM);
    error_set(error, ERROR_INPUT, "%s: is a netCDF-4 copy, which can only be read; to continue: %s",
        view->name, command);
    free(command);
    return -1;
}

int verify_content(const struct view *view, struct error *error)
{
    if (verify_runs(view, error) != 0 || verify_metrics(view, error) != 0 ||
        verify_sessions(view, error) != 0)
        return -1;
    if (verify_coordinates(view, error) != 0 || verify_params(view, error) != 0)
        return -1;
    return verify_texts(view, error);
}

int verify_dataset(const struct view *view, struct error *error)
{
    size_t used;

    if (view->copy)
        return refuse_copy(view, error);
    if (verify_content(view, error) == 0)
        return 0;
    used = strlen(error->text);
    if (error->status == ERROR_INPUT)
        snprintf(error->text + used, sizeof(error->text) - used, "; use --fresh or another -o");
    return -1;
}
