/*
 * Datasets are kept for months, and other programs write netCDF too. A file that another program has changed
 * is refused here, with the name of what is wrong, before a start copies it or writes into it: a text in
 * place of a number would overrun a buffer, attempts of another type would make an extended file lose its
 * runs.
 *
 * The expected variables come from the tables from which a new file is made.
 */
#include "driver/dataset/read/inside.h"

#include <limits.h>

#define TOLERANCE 1e-12 /* relative, of computed coordinates */

/* ---- values of runs ---- */

/* Checks the numbers of a variable; `filled` ones may also be -1. */
static int verify_bounds(const struct view *view, enum run_variable which, struct error *error)
{
    const struct run_variable_row *row = &run_variable_table[which];
    double *value = view_stored(view, row->name, view->cells, error);
    char label[LABEL_SIZE];
    int flags, result = value ? 0 : -1;

    run_variable_flags(which, &flags);
    long long least = row->filled ? -1 : 0, most = row->filled ? LLONG_MAX : INT_MAX - 1;
    if (flags)
        most = flags - 1;
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++)
        if (value[cell] < (double)least || value[cell] > (double)most)
            result = verify_fault(error, view, "%s is %.0f at %s and not from %lld to %lld", row->name,
                value[cell], label_named(view->axis_count, view->axis, cell, NAMING_WHOLE, label), least,
                most);
    free(value);
    return result;
}

/*
 * A run that has ended must have attempts: an extended file takes over only runs that were started. A run
 * under way may lack them: a flush writes in the order of offsets, and the process may be killed in the
 * middle of it.
 */
static int verify_starts(const struct view *view, struct error *error)
{
    int64_t cells = view->cells;
    double *outcome = view_stored(view, run_variable_table[RUN_VARIABLE_outcome].name, cells, error);
    double *attempts =
        outcome ? view_stored(view, run_variable_table[RUN_VARIABLE_attempts].name, cells, error) : NULL;
    char label[LABEL_SIZE];
    int result = attempts ? 0 : -1;

    for (int64_t cell = 0; result == 0 && cell < cells; cell++) {
        enum outcome is = (enum outcome)outcome[cell];
        bool has_ended = is == OUTCOME_DONE || is == OUTCOME_DIVERGED || is == OUTCOME_FAILED;
        if (has_ended && attempts[cell] == 0)
            result = verify_fault(error, view, "attempts is 0 at %s, where outcome is %s",
                label_named(view->axis_count, view->axis, cell, NAMING_WHOLE, label), outcome_words[is]);
    }
    free(outcome);
    free(attempts);
    return result;
}

/* ---- coordinates ---- */

/* Orders two indices of an axis by their labels or values. */
static int by_value(const void *context, int64_t a, int64_t b)
{
    const struct axis *axis = context;

    return axis->label ? strcmp(axis->label[a], axis->label[b]) : axis_compare(axis, a, b);
}

/* Two runs with equal values would become one cell of an extended file. */
static int verify_distinct(const struct view *view, const struct axis *axis, struct error *error)
{
    int64_t *sorted = memory_sorted(axis->length, by_value, axis);
    char text[LABEL_SIZE];
    int result = 0;

    for (int64_t i = 1; result == 0 && i < axis->length; i++)
        if (by_value(axis, sorted[i - 1], sorted[i]) == 0)
            result = verify_fault(error, view, "%s has %s twice", axis->name,
                label_axis_value(axis, sorted[i], text, sizeof(text)));
    free(sorted);
    return result;
}

static int verify_steps(const struct view *view, struct error *error)
{
    const char *name = metric_dimension_table[DIMENSION_STEP].name;

    if (view->step[0] < 0)
        return verify_fault(error, view, "%s begins at %lld", name, (long long)view->step[0]);
    for (int64_t i = 1; i < view->step_count; i++)
        if (view->step[i] <= view->step[i - 1])
            return verify_fault(error, view, "%s does not ascend: %lld comes after %lld", name,
                (long long)view->step[i], (long long)view->step[i - 1]);
    return 0;
}

/* Checks a coordinate that the program knows: "layer is 7 at place 0 and not 0". */
static int verify_numbers(
    const struct view *view, const struct outline *outline, const struct variable *row, struct error *error)
{
    int64_t length = variable_values(row);
    double *value = view_stored(view, row->name, length, error);
    int result = value ? 0 : -1;

    for (int64_t i = 0; result == 0 && i < length; i++) {
        union param_value known = variable_number(outline, row, i);
        double expected = row->type == NC_DOUBLE ? known.real : (double)known.integer;
        if (!(fabs(value[i] - expected) <= TOLERANCE * fabs(expected)))
            result = verify_fault(error, view, "%s is %.12g at place %lld and not %.12g", row->name, value[i],
                (long long)i, expected);
    }
    free(value);
    return result;
}

/* Words at their places. */
static int verify_words(
    const struct view *view, const struct outline *outline, const struct variable *row, struct error *error)
{
    int result = 0, cause = 0;

    for (int64_t i = 0; result == 0 && i < row->length[0]; i++) {
        char word[PARAM_TEXT];
        const char *expected = variable_word(outline, row, i, word);
        char *text = view_string(view, row->name, i, &cause);
        if (cause)
            return layout_error(error, view->name, cause);
        if (!text || !expected || strcmp(text, expected) != 0)
            result = verify_fault(error, view, "%s is '%s' at place %lld and not '%s'", row->name,
                text ? text : "", (long long)i, expected ? expected : "");
        free(text);
    }
    return result;
}

/* ---- attributes ---- */

/* Every parameter that is not an axis is an attribute, and so are the texts that a start compares with its
 * own. */
static int verify_attributes(const struct view *view, struct error *error)
{
    static const char *const compared[] = {
        ATTRIBUTE_MEASURE, ATTRIBUTE_VALIDATE, ATTRIBUTE_DATA, ATTRIBUTE_PRECISION};
    int cause = 0;

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        union param_value value;
        if (axis_find(view->axis_count, view->axis, param) ||
            axis_derives(view->axis_count, view->axis, &view->base, param) ||
            view_param(view, param, &value, &cause))
            continue;
        if (cause)
            return layout_error(error, view->name, cause);
        bool there = lookup_attribute(view->file, NC_GLOBAL, param->name, NULL, NULL) != NC_ENOTATT;
        return verify_fault(error, view, "the attribute %s %s", param->name,
            there ? "has a value that the key cannot have" : "is missing");
    }
    for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++) {
        char *text = view_text(view, compared[i], &cause);
        bool there = text != NULL;
        free(text);
        if (cause)
            return layout_error(error, view->name, cause);
        if (!there)
            return verify_fault(error, view, "the attribute %s is not a text", compared[i]);
    }
    return 0;
}

/* ---- the whole file ---- */

bool verify_alignment(const struct view *view)
{
    const struct outline outline = view_outline(view);
    int count = 0;
    struct variable *row = variable_table_of(&outline, view->extent, view->file, &count);
    bool aligned = row;

    for (int i = 0; aligned && i < count; i++) {
        bool wide = row[i].type == NC_INT64 || row[i].type == NC_DOUBLE;
        bool live = row[i].kind <= VARIABLE_SESSION;
        if (wide && live && row[i].begin >= 0)
            aligned = row[i].begin % 8 == 0;
    }
    free(row);
    return aligned;
}

static int verify_row(
    const struct view *view, const struct outline *outline, const struct variable *row, struct error *error)
{
    struct variable expected = *row;
    int variable;

    if (row->kind == VARIABLE_LABEL || row->kind == VARIABLE_PARAM) /* view_open has read them */
        return 0;
    if (row->kind == VARIABLE_COORDINATE)
        expected.width = 0;
    if (verify_variable(view, outline, &expected, &variable, error) != 0)
        return -1;
    if (row->kind == VARIABLE_RUN && (row->type == NC_BYTE || row->type == NC_INT64))
        return verify_bounds(view, (enum run_variable)row->which, error);
    if (row->kind == VARIABLE_DECAY)
        return verify_numbers(view, outline, row, error);
    if (row->kind != VARIABLE_COORDINATE)
        return 0;
    if (row->which == DIMENSION_STEP)
        return verify_steps(view, error);
    return row->type == NC_CHAR ? verify_words(view, outline, row, error)
                                : verify_numbers(view, outline, row, error);
}

/* ---- copies ---- */

/* "nccopy OPTIONS FROM TO" with "first-small.nc" for "first.nc"; if `after` is given, followed by it and TO
 * once more. */
static char *nccopy(const char *options, const char *path, const char *suffix, const char *after)
{
    size_t length = strlen(path);
    size_t stem = length > 3 && strcmp(path + length - 3, ".nc") == 0 ? length - 3 : length;
    char *name = memory_format("%.*s%s.nc", (int)stem, path, suffix);
    char *from = quote_path(path), *to = quote_path(name);
    char *command =
        memory_format("nccopy %s %s %s%s%s", options, from, to, after ? after : "", after ? to : "");

    free(name);
    free(from);
    free(to);
    return command;
}

char *conversion_to_copy(const char *path)
{
    return nccopy("-4 -d 5 -s", path, "-small", NULL);
}

char *conversion_back(const char *path, bool carry_on)
{
    return nccopy("-k cdf5", path, "-cdf5", carry_on ? ", then run with -o " : NULL);
}

int verify_content(const struct view *view, struct error *error)
{
    const struct outline outline = view_outline(view);
    int count = 0;
    struct variable *row = variable_table(&outline, &count);
    int result = 0;

    if (!row)
        return layout_error(error, view->name, NC_ENOMEM);
    for (int i = 0; result == 0 && i < count; i++)
        result = verify_row(view, &outline, &row[i], error);
    free(row);
    if (result == 0)
        result = verify_starts(view, error);
    for (int64_t i = 0; result == 0 && i < view->axis_count; i++)
        result = verify_distinct(view, &view->axis[i], error);
    return result == 0 ? verify_attributes(view, error) : -1;
}

int verify_dataset(const struct view *view, struct error *error)
{
    if (view->copy) {
        char *command = conversion_back(view->name, true);
        error_set(error, ERROR_INPUT, "%s: is a netCDF-4 copy, which can only be read; to continue: %s",
            view->name, command);
        free(command);
        return -1;
    }
    if (verify_content(view, error) == 0)
        return 0;
    size_t used = strlen(error->text);
    if (error->status == ERROR_INPUT)
        snprintf(error->text + used, sizeof(error->text) - used, "; use --fresh or another -o");
    return -1;
}
