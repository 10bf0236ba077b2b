/*
 * Variables and attributes of an open file by name, whoever has added them: their shape, their words, all
 * values or those of one cell. Nothing is taken from the header without a bound: counts come from a file that
 * may be damaged. In a netCDF-4 copy a text may be a value of type string.
 */
#include "driver/dataset/read/inside.h"
#include "model/core/printable.h"

#include <errno.h>

/* ---- attributes ---- */

/* Can the library convert values of this type to numbers? Not texts, and not user-defined types of netCDF-4.
 */
static bool is_number(nc_type type)
{
    return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

/* Was something read that is there? If not, keeps the errno, unless its value does not fit. */
static bool was_read(int status, int *cause)
{
    if (cause && (status == NC_ENOMEM || status == NC_ENOTATT))
        *cause = ENOMEM;
    else if (cause && status > 0)
        *cause = status;
    return status == NC_NOERR;
}

static bool has_attribute(
    const struct view *view, int variable, const char *name, nc_type *type, size_t *length, int *cause)
{
    int status = lookup_attribute(view->file, variable, name, type, length);

    return status != NC_ENOTATT && was_read(status, cause);
}

bool view_attribute_number(const struct view *view, int variable, const char *name, double *value, int *cause)
{
    nc_type type;
    size_t length;

    return has_attribute(view, variable, name, &type, &length, cause) && is_number(type) && length == 1 &&
           was_read(nc_get_att_double(view->file, variable, name, value), cause);
}

bool view_attribute_integer(const struct view *view, const char *name, int64_t *value, int *cause)
{
    long long number;
    nc_type type;
    size_t length;

    if (!has_attribute(view, NC_GLOBAL, name, &type, &length, cause) || length != 1)
        return false;
    if (!is_number(type) || type == NC_FLOAT || type == NC_DOUBLE)
        return false;
    if (!was_read(nc_get_att_longlong(view->file, NC_GLOBAL, name, &number), cause))
        return false;
    *value = number;
    return true;
}

static char *read_text(const struct view *view, int variable, const char *name, int *cause)
{
    char *string = NULL, *text = NULL;
    nc_type type;
    size_t length;

    if (!has_attribute(view, variable, name, &type, &length, cause))
        return NULL;
    if (type == NC_STRING && length == 1) {
        if (!was_read(nc_get_att_string(view->file, variable, name, &string), cause))
            return NULL;
        text = string ? strdup(string) : NULL;
        was_read(string && !text ? NC_ENOMEM : NC_NOERR, cause);
        nc_free_string(1, &string);
        return text;
    }
    if (type != NC_CHAR || length > (size_t)view->most)
        return NULL;
    text = calloc(length + 1, 1);
    if (was_read(text ? nc_get_att_text(view->file, variable, name, text) : NC_ENOMEM, cause))
        return text;
    free(text);
    return NULL;
}

char *view_text(const struct view *view, const char *name, int *cause)
{
    return read_text(view, NC_GLOBAL, name, cause);
}

char *view_variable_text(
    const struct view *view, const struct view_variable *variable, const char *name, int *cause)
{
    return read_text(view, variable->id, name, cause);
}

/* ---- variables ---- */

/* Finds a variable of any type. */
static bool find(const struct view *view, const char *name, struct view_variable *variable, nc_type *type)
{
    int dimensions[NC_MAX_VAR_DIMS];

    if (lookup_variable(view->file, name, &variable->id) != NC_NOERR ||
        nc_inq_var(view->file, variable->id, NULL, type, &variable->dimension_count, dimensions, NULL) !=
            NC_NOERR ||
        variable->dimension_count > VIEW_DIMENSIONS_MAX)
        return false;
    variable->size = 1;
    for (int i = 0; i < variable->dimension_count; i++) {
        char found[NC_MAX_NAME + 1];
        size_t length;
        if (nc_inq_dim(view->file, dimensions[i], found, &length) != NC_NOERR || length < 1 ||
            length > (size_t)(view->most / variable->size))
            return false;
        printable(found, variable->dimension[i], VIEW_NAME);
        variable->length[i] = (int64_t)length;
        variable->size *= (int64_t)length;
    }
    return true;
}

bool view_find(const struct view *view, const char *name, struct view_variable *variable)
{
    nc_type type;

    return find(view, name, variable, &type) && is_number(type);
}

bool view_find_text(const struct view *view, const char *name, struct view_variable *variable)
{
    nc_type type;

    return find(view, name, variable, &type) && type == NC_CHAR;
}

int view_read(
    const struct view *view, const struct view_variable *variable, double *values, struct error *error)
{
    double fill;
    int cause = 0, status = nc_get_var_double(view->file, variable->id, values);

    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    if (view_attribute_number(view, variable->id, "_FillValue", &fill, &cause))
        for (int64_t i = 0; i < variable->size; i++)
            if (values[i] == fill)
                values[i] = NAN;
    return cause ? layout_error(error, view->name, cause) : 0;
}

bool view_is_of_runs(const struct view *view, const struct view_variable *variable)
{
    if (variable->dimension_count < view->axis_count)
        return false;
    for (int64_t i = 0; i < view->axis_count; i++)
        if (strcmp(variable->dimension[i], view->axis[i].name) != 0)
            return false;
    return true;
}

int view_read_cell(const struct view *view, const struct view_variable *variable, int64_t cell,
    double *values, struct error *error)
{
    size_t start[VIEW_DIMENSIONS_MAX] = {0}, count[VIEW_DIMENSIONS_MAX];
    int64_t whole = 1, rest = cell;

    for (int i = variable->dimension_count - 1; i >= 0; i--) {
        bool along_grid = i < view->axis_count;
        count[i] = along_grid ? 1 : (size_t)variable->length[i];
        start[i] = along_grid ? (size_t)(rest % variable->length[i]) : 0;
        rest /= along_grid ? variable->length[i] : 1;
        whole *= (int64_t)count[i];
    }
    INVARIANT(cell >= 0 && rest == 0 && whole == variable->size / view->cells,
        "cell %lld of %lld, %lld values of %lld", (long long)cell, (long long)view->cells, (long long)whole,
        (long long)(variable->size / view->cells));
    int status = nc_get_vara_double(view->file, variable->id, start, count, values);
    return status == NC_NOERR ? 0 : layout_error(error, view->name, status);
}

double *view_stored(const struct view *view, const char *name, int64_t count, struct error *error)
{
    double *values = malloc((size_t)count * sizeof(*values));
    int variable, status = values ? lookup_variable(view->file, name, &variable) : NC_ENOMEM;

    if (status == NC_NOERR)
        status = nc_get_var_double(view->file, variable, values);
    if (status == NC_NOERR)
        return values;
    free(values);
    layout_error(error, view->name, status);
    return NULL;
}

double *view_cells(const struct view *view, const char *name, struct error *error)
{
    double *values = malloc((size_t)view->cells * sizeof(*values));
    struct view_variable variable;

    if (!values) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
        return NULL;
    }
    for (int64_t cell = 0; cell < view->cells; cell++)
        values[cell] = NAN;
    if (!view_find(view, name, &variable) || variable.dimension_count != view->axis_count ||
        !view_is_of_runs(view, &variable) || view_read(view, &variable, values, error) == 0)
        return values;
    free(values);
    return NULL;
}

bool view_is_text(const struct view *view, const char *name)
{
    struct view_variable variable;

    return view_find_text(view, name, &variable);
}

/* Splits words at spaces; no flags at all if there are too many words or one is too long. */
static void split_words(struct view_flags *flags, const char *text)
{
    flags->count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (flags->count == VIEW_FLAGS_MAX || length >= VIEW_FLAG) {
            flags->count = 0;
            return;
        }
        snprintf(flags->word[flags->count++], VIEW_FLAG, "%.*s", (int)length, text);
        text += length;
    }
}

void view_flags(const struct view *view, const struct view_variable *variable, struct view_flags *flags)
{
    char text[VIEW_FLAGS_MAX * VIEW_FLAG] = "", shown[PRINTABLE_MOST * sizeof(text)];
    nc_type type;
    size_t length;

    if (lookup_attribute(view->file, variable->id, "flag_masks", NULL, NULL) == NC_NOERR ||
        lookup_attribute(view->file, variable->id, "flag_meanings", &type, &length) != NC_NOERR ||
        type != NC_CHAR || length >= sizeof(text) ||
        nc_get_att_text(view->file, variable->id, "flag_meanings", text) != NC_NOERR)
        text[0] = '\0';
    split_words(flags, printable(text, shown, sizeof(shown)));
}

int view_outcomes(const struct view *view, signed char *outcome, struct error *error)
{
    int variable;
    int status = lookup_variable(view->file, run_variable_table[RUN_VARIABLE_outcome].name, &variable);

    if (status == NC_NOERR)
        status = nc_get_var_schar(view->file, variable, outcome);
    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    for (int64_t cell = 0; cell < view->cells; cell++)
        if (outcome[cell] < 0 || outcome[cell] >= OUTCOME_COUNT)
            outcome[cell] = OUTCOME_PENDING;
    return 0;
}

char *view_stored_text(
    const struct view *view, const struct view_variable *variable, int64_t index, int *cause)
{
    size_t start[VIEW_DIMENSIONS_MAX] = {0}, count[VIEW_DIMENSIONS_MAX];
    int64_t rest = index;
    int last = variable->dimension_count - 1;

    for (int i = last - 1; i >= 0; i--) {
        count[i] = 1;
        start[i] = (size_t)(rest % variable->length[i]);
        rest /= variable->length[i];
    }
    if (last < 0 || rest != 0)
        return NULL;
    count[last] = (size_t)variable->length[last];
    char *text = calloc(count[last] + 1, 1);
    if (was_read(text ? nc_get_vara_text(view->file, variable->id, start, count, text) : NC_ENOMEM, cause))
        return text;
    free(text);
    return NULL;
}

char *view_string(const struct view *view, const char *name, int64_t index, int *cause)
{
    struct view_variable variable;

    if (!view_find_text(view, name, &variable) ||
        (variable.dimension_count != 2 &&
            (variable.dimension_count != view->axis_count + 1 || !view_is_of_runs(view, &variable))))
        return NULL;
    return lines_clean(view_stored_text(view, &variable, index, cause));
}
