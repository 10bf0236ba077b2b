/*
 * Opens a dataset for reading and finds its axes, steps and lengths in it, without a sweep file. A sweep may
 * be writing meanwhile: the header never changes, so only values can be new. Axes become the same structs as
 * those of a sweep file, so that one code names cells of both.
 */
#include "driver/dataset/read/inside.h"
#include "model/core/printable.h"

#include <errno.h>
#include <sys/stat.h>

enum { DEFLATE_MOST = 1032 }; /* the highest compression ratio of deflate */

static int check_source(const struct view *view, struct error *error)
{
    int cause = 0;
    char *source = view_text(view, ATTRIBUTE_SOURCE, &cause);

    if (!source)
        return layout_error(error, view->name, cause ? cause : NC_ENOTNC);
    bool ours = strcmp(source, PROGRAM) == 0, inspected = strcmp(source, INSPECTED_SOURCE) == 0;
    free(source);
    if (inspected)
        return error_set(error, ERROR_INPUT,
            "%s: of " PROGRAM " inspect, not of a sweep; draw it with analysis/figures", view->name);
    return ours ? 0 : layout_error(error, view->name, NC_ENOTNC);
}

static int check_header(struct view *view, struct error *error)
{
    int cause = 0;

    if (check_source(view, error) != 0)
        return -1;
    if (!view_attribute_integer(view, ATTRIBUTE_FORMAT, &view->format, &cause))
        return layout_error(error, view->name, cause ? cause : NC_ENOTNC);
    if (view->format != FORMAT_VERSION)
        return error_set(error, ERROR_INPUT,
            "%s: has dataset format %lld; this program reads format %d: read it with the version that wrote "
            "it, or measure anew with --fresh or another -o",
            view->name, (long long)view->format, FORMAT_VERSION);
    return 0;
}

/* The length of a dimension; refused if the file cannot hold so many values. */
static int dimension_length(const struct view *view, const char *name, int64_t *length, struct error *error)
{
    int dimension;
    size_t size;

    if (lookup_dimension(view->file, name, &dimension) != NC_NOERR ||
        nc_inq_dimlen(view->file, dimension, &size) != NC_NOERR || size < 1 || size > (size_t)view->most)
        return layout_error(error, view->name, NC_ENOTNC);
    *length = (int64_t)size;
    return 0;
}

/* The id of a variable along one dimension, of the given type; -1 with the error set. */
static int column(
    const struct view *view, const char *name, const char *dimension, nc_type type, struct error *error)
{
    const struct variable form = {.name = name, .type = type, .rank = 1, .dimension = {dimension}};
    int variable;

    return verify_variable(view, &(struct outline){0}, &form, &variable, error) == 0 ? variable : -1;
}

static void free_texts(char **text, int64_t length)
{
    for (int64_t i = 0; text && i < length; i++)
        free(text[i]);
    free(text);
}

/* All texts [length] of a column. The caller frees them with free_texts; NULL with the error set. */
static char **read_texts(
    const struct view *view, const char *name, const char *dimension, int64_t length, struct error *error)
{
    struct view_variable variable;
    int cause = 0;

    if (column(view, name, dimension, NC_CHAR, error) < 0 ||
        (!view_find_text(view, name, &variable) && layout_error(error, view->name, NC_ENOTNC) < 0))
        return NULL;
    char **text = calloc((size_t)length, sizeof(*text));
    bool whole = text;
    if (!whole)
        layout_error(error, view->name, ENOMEM);
    for (int64_t i = 0; whole && i < length; i++) {
        text[i] = view_stored_text(view, &variable, i, &cause);
        whole = text[i] != NULL;
        if (!whole)
            layout_error(error, view->name, cause ? cause : NC_ENOTNC);
    }
    if (whole)
        return text;
    free_texts(text, length);
    return NULL;
}

/* One parameter along an axis: value[axis->length]. A sweep file could have these values: the memory of a run
 * is computed from them. */
static int read_param(const struct view *view, const struct param *param, const struct axis *axis,
    union param_value *value, struct error *error)
{
    struct error fault;
    int result = 0;

    _Static_assert(sizeof(*value) == sizeof(double) && sizeof(*value) == sizeof(long long),
        "a value is read as what it is");
    if (param->words) {
        char **text = read_texts(view, param->name, axis->name, axis->length, error);
        result = text ? 0 : -1;
        for (int64_t i = 0; result == 0 && i < axis->length; i++) {
            if (!param_find_word(param, text[i], &value[i].integer))
                result = verify_fault(error, view, "%s '%s' is unknown", param->name, text[i]);
        }
        free_texts(text, axis->length);
    } else {
        int variable = column(view, param->name, axis->name, variable_param_type(param->kind), error);
        if (variable < 0)
            return -1;
        int status = param->kind == PARAM_REAL
                         ? nc_get_var_double(view->file, variable, &value->real)
                         : nc_get_var_longlong(view->file, variable, (long long *)&value->integer);
        result = status == NC_NOERR ? 0 : layout_error(error, view->name, status);
    }
    for (int64_t i = 0; result == 0 && i < axis->length; i++)
        if (param_check(param, value[i], &fault) != 0)
            result = verify_fault(error, view, "%s", fault.text);
    return result;
}

/* Reads name, length, parameters, labels and values of the axis along a dimension. Its parameters are all
 * whose variable has this as its first dimension. */
static int read_axis(const struct view *view, struct axis *axis, int dimension, struct error *error)
{
    char name[NC_MAX_NAME + 1], shown[NC_MAX_NAME + 1];
    bool derives = view->base.timescale > 0 || lookup_has_variable(view->file, "timescale");
    size_t length;

    if (nc_inq_dim(view->file, dimension, name, &length) != NC_NOERR || length < 1 ||
        length > (size_t)view->most)
        return layout_error(error, view->name, NC_ENOTNC);
    axis->name = strdup(name);
    axis->length = (int64_t)length;
    INVARIANT(param_count > 0, "no parameters");
    axis->param = calloc(param_count, sizeof(const struct param *));
    if (!axis->name || !axis->param)
        return layout_error(error, view->name, ENOMEM);
    for (size_t i = 0; i < param_count; i++) {
        int variable, count, dimensions[NC_MAX_VAR_DIMS];
        if (derives && &param_table[i] == param_find("weight_decay"))
            continue;
        if (lookup_variable(view->file, param_table[i].name, &variable) == NC_NOERR &&
            nc_inq_var(view->file, variable, NULL, NULL, &count, dimensions, NULL) == NC_NOERR &&
            count >= 1 && dimensions[0] == dimension)
            axis->param[axis->param_count++] = &param_table[i];
    }
    if (axis->param_count == 0 || strcmp(printable(name, shown, sizeof(shown)), name) != 0)
        return layout_error(error, view->name, NC_ENOTNC);
    if (!param_find(axis->name)) {
        axis->label = read_texts(view, axis->name, axis->name, axis->length, error);
        if (!axis->label)
            return -1;
    }
    axis->value = calloc((size_t)axis->param_count * (size_t)axis->length, sizeof(*axis->value));
    if (!axis->value)
        return layout_error(error, view->name, ENOMEM);
    for (int64_t i = 0; i < axis->param_count; i++)
        if (read_param(view, axis->param[i], axis, axis->value + i * axis->length, error) != 0)
            return -1;
    return 0;
}

/* Reads the parameters that all runs share, and the axes of the grid: the dimensions of outcome. */
static int read_axes(struct view *view, struct error *error)
{
    const char *name = run_variable_table[RUN_VARIABLE_outcome].name;
    int outcome, count, dimensions[NC_MAX_VAR_DIMS];
    nc_type type;

    run_init(&view->base);
    for (size_t i = 0; i < param_count; i++) {
        union param_value value;
        if (view_param(view, &param_table[i], &value, NULL))
            param_set(&param_table[i], &view->base, value);
    }
    if (lookup_variable(view->file, name, &outcome) != NC_NOERR ||
        nc_inq_var(view->file, outcome, NULL, &type, &count, dimensions, NULL) != NC_NOERR)
        return layout_error(error, view->name, NC_ENOTNC);
    if (type != NC_BYTE)
        return verify_fault(error, view, "%s is not of type byte", name);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (dimensions[i] == dimensions[j])
                return verify_fault(error, view, "%s is over one dimension twice", name);
    if (count > AXES_MAX)
        return layout_error(error, view->name, NC_ENOTNC);
    view->axis = calloc((size_t)count + 1, sizeof(*view->axis));
    if (!view->axis)
        return layout_error(error, view->name, ENOMEM);
    view->axis_count = count;
    view->cells = 1;
    for (int i = 0; i < count; i++) {
        if (read_axis(view, &view->axis[i], dimensions[i], error) != 0)
            return -1;
        INVARIANT(view->axis[i].length > 0, "axis %d of length %lld", i, (long long)view->axis[i].length);
        if (view->cells > view->most / view->axis[i].length)
            return layout_error(error, view->name, NC_ENOTNC);
        view->cells *= view->axis[i].length;
    }
    return 0;
}

/* Reads the steps, and how long each dimension is. */
static int read_lengths(struct view *view, struct error *error)
{
    const char *step = metric_dimension_table[DIMENSION_STEP].name;
    int id, variable = column(view, step, step, NC_INT64, error);

    if (variable < 0 || dimension_length(view, step, &view->step_count, error) != 0)
        return -1;
    view->step = malloc((size_t)view->step_count * sizeof(*view->step));
    if (!view->step)
        return layout_error(error, view->name, ENOMEM);
    int status = nc_get_var_longlong(view->file, variable, (long long *)view->step);
    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    view->form.along[DIMENSION_STEP] = view->form.along[DIMENSION_STACK] = 1;
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        const char *name = metric_dimension_table[i].name;
        bool optional = !metric_dimension_stored(i, &view->form, (const bool[GROUP_COUNT]){false});
        if (i == DIMENSION_STEP || (optional && lookup_dimension(view->file, name, &id) != NC_NOERR))
            continue;
        if (dimension_length(view, name, &view->form.along[i], error) != 0)
            return -1;
    }
    metric_form_place(&view->form);
    return dimension_length(view, SESSION_DIMENSION, &view->sessions, error);
}

/* Opens the file and nothing more. The caller calls view_close also on failure. */
static int open_file(struct view *view, const char *path, struct error *error)
{
    *view = (struct view){.file = -1, .name = strdup(path)};
    if (!view->name)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    if (layout_check_file(path, &view->bytes, &view->extent, error) != 0)
        return -1;
    view->copy = !view->extent;
    view->most =
        view->copy && view->bytes < INT64_MAX / DEFLATE_MOST ? DEFLATE_MOST * view->bytes : view->bytes;
    char *whole = realpath(path, NULL); /* the library takes some relative names for URLs */
    errno = 0;
    int status = nc_open(whole ? whole : path, NC_NOWRITE, &view->file);
    if (status == NC_ENOTNC && errno == EIO) /* the library means the first bytes, which it could not read */
        status = EIO;
    free(whole);
    if (status == NC_NOERR)
        return 0;
    view->file = -1;
    if (status > 0 || status == NC_ENOMEM || status == NC_EBADID) /* the last one: its table could not grow */
        return layout_error(error, path, status == NC_EBADID ? NC_ENOMEM : status);
    if (!view->copy)
        return layout_error(error, view->name, NC_ENOTNC);
    return error_set(error, ERROR_INPUT, "%s: cannot be read as netCDF-4: %s", path, nc_strerror(status));
}

/* ---- opening ---- */

void mistaken_dataset(const char *path, struct error *error)
{
    const char *dot = strrchr(path, '.');
    struct error ignored;
    struct stat status;
    char *beside;

    if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0) || stat(path, &status) != 0 ||
        !S_ISREG(status.st_mode) || status.st_size == 0 ||
        asprintf(&beside, "%.*s.nc", (int)(dot - path), path) < 0)
        return;
    if (view_check(beside, &ignored) == 0)
        error_set(error, ERROR_INPUT, "%s: is not a " PROGRAM " dataset; its dataset is %s", path, beside);
    else
        error_set(error, ERROR_INPUT,
            "%s: is not a " PROGRAM " dataset; if it is a sweep file, give the dataset that run writes",
            path);
    free(beside);
}

int view_open(struct view *view, const char *path, struct error *error)
{
    int result = open_file(view, path, error);

    if (result != 0)
        mistaken_dataset(path, error);
    else if (check_header(view, error) != 0 || read_axes(view, error) != 0 || read_lengths(view, error) != 0)
        result = -1;
    if (result != 0)
        view_close(view);
    return result;
}

int view_check(const char *path, struct error *error)
{
    struct view view;
    int result = open_file(&view, path, error) == 0 ? check_source(&view, error) : -1;

    view_close(&view);
    return result;
}

void view_close(struct view *view)
{
    if (view->file >= 0)
        nc_close(view->file);
    for (int64_t i = 0; i < view->axis_count; i++)
        axis_release(&view->axis[i]);
    free(view->axis);
    free(view->step);
    free(view->extent);
    free(view->name);
    *view = (struct view){.file = -1};
}

/* A default is valid: that of timescale, 0, may not stand in a sweep file. */
bool view_param(const struct view *view, const struct param *param, union param_value *value, int *cause)
{
    struct error ignored;
    bool found;

    if (param->words) {
        char *word = view_text(view, param->name, cause);
        found = word && param_find_word(param, word, &value->integer);
        free(word);
    } else if (param->kind == PARAM_REAL) {
        found = view_attribute_number(view, NC_GLOBAL, param->name, &value->real, cause);
    } else {
        found = view_attribute_integer(view, param->name, &value->integer, cause);
    }
    return found &&
           (memcmp(value, &param->initial, sizeof(*value)) == 0 || param_check(param, *value, &ignored) == 0);
}

const char *view_library(void)
{
    return nc_inq_libvers();
}
