#include "driver/dataset/view.h"

#include "driver/dataset/check.h"
#include "driver/dataset/layout.h"
#include "driver/dataset/mistaken.h"
#include "driver/sweep/label.h"
#include "driver/tables/dataset_tables.h"
#include "driver/text/lines.h"

#include <netcdf.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const struct view *view, struct error *error)
{
    return layout_refuse(error, view->name);
}

static int no_memory(const struct view *view, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
}

static bool integer_attribute(const struct view *view, const char *name, int64_t *value)
{
    long long number;
    nc_type type;
    size_t length;

    if (nc_inq_att(view->file, NC_GLOBAL, name, &type, &length) != NC_NOERR || type == NC_CHAR || length != 1)
        return false;
    if (nc_get_att_longlong(view->file, NC_GLOBAL, name, &number) != NC_NOERR)
        return false;
    *value = number;
    return true;
}

static bool is_ours(const struct view *view)
{
    char *source = view_text(view, ATTRIBUTE_SOURCE);
    bool ours = source && strcmp(source, PROGRAM) == 0;

    free(source);
    return ours;
}

static int check_header(struct view *view, struct error *error)
{
    if (!is_ours(view) || !integer_attribute(view, ATTRIBUTE_FORMAT, &view->format))
        return refuse(view, error);
    if (view->format != FORMAT_VERSION)
        return error_set(error, ERROR_INPUT, "%s: dataset format %lld, this program has format %d",
            view->name, (long long)view->format, FORMAT_VERSION);
    return 0;
}

/* The length of a dimension, refused where the file could not hold it. */
static int dimension_length(const struct view *view, const char *name, int64_t *length, struct error *error)
{
    int dimension;
    size_t size;

    if (nc_inq_dimid(view->file, name, &dimension) != NC_NOERR ||
        nc_inq_dimlen(view->file, dimension, &size) != NC_NOERR || size < 1 || size > (size_t)view->bytes)
        return refuse(view, error);
    *length = (int64_t)size;
    return 0;
}

/* One variable along one dimension, of the type asked for: its id, or -1. Its texts are *width long. */
static int column(const struct view *view, const char *name, nc_type type, size_t *width)
{
    int variable, count, dimensions[NC_MAX_VAR_DIMS];
    nc_type found;

    if (nc_inq_varid(view->file, name, &variable) != NC_NOERR ||
        nc_inq_var(view->file, variable, NULL, &found, &count, dimensions, NULL) != NC_NOERR)
        return -1;
    if (found != type || count != (type == NC_CHAR ? 2 : 1))
        return -1;
    if (type == NC_CHAR && nc_inq_dimlen(view->file, dimensions[1], width) != NC_NOERR)
        return -1;
    return variable;
}

static void free_texts(char **text, int64_t length)
{
    for (int64_t i = 0; text && i < length; i++)
        free(text[i]);
    free(text);
}

/* All texts of a column [length], each the caller's to free with the array; NULL: not there, or no memory. */
static char **read_texts(const struct view *view, const char *name, int64_t length)
{
    size_t width = 0;
    int variable = column(view, name, NC_CHAR, &width);
    char **text = variable < 0 ? NULL : calloc((size_t)length, sizeof(*text));
    size_t start[2] = {0, 0}, count[2] = {1, width};
    bool whole = text != NULL && width <= (size_t)view->bytes;

    for (int64_t i = 0; whole && i < length; i++) {
        start[0] = (size_t)i;
        text[i] = calloc(width + 1, 1);
        whole = text[i] && nc_get_vara_text(view->file, variable, start, count, text[i]) == NC_NOERR;
    }
    if (whole)
        return text;
    free_texts(text, length);
    return NULL;
}

static int64_t word_index(const struct param *param, const char *word)
{
    for (int64_t i = 0; param->words[i]; i++)
        if (strcmp(param->words[i], word) == 0)
            return i;
    return -1;
}

static bool read_words(
    const struct view *view, const struct param *param, int64_t length, union param_value *value)
{
    char **text = read_texts(view, param->name, length);
    bool known = text != NULL;

    for (int64_t i = 0; known && i < length; i++) {
        value[i].integer = word_index(param, text[i]);
        known = value[i].integer >= 0;
    }
    free_texts(text, length);
    return known;
}

static bool read_integers(const struct view *view, int variable, int64_t length, int64_t *value)
{
    long long *number = malloc((size_t)length * sizeof(*number));
    bool whole = number && nc_get_var_longlong(view->file, variable, number) == NC_NOERR;

    for (int64_t i = 0; whole && i < length; i++)
        value[i] = number[i];
    free(number);
    return whole;
}

/* Are they what a sweep file may hold? What a run would take is reckoned from them. */
static bool within_bounds(const struct param *param, const union param_value *value, int64_t count)
{
    struct error ignored;

    for (int64_t i = 0; i < count; i++)
        if (param_check(param, value[i], &ignored) != 0)
            return false;
    return true;
}

/* One parameter along an axis: value[length]. */
static bool read_param(
    const struct view *view, const struct param *param, int64_t length, union param_value *value)
{
    nc_type type = param->kind == PARAM_BOOLEAN ? NC_BYTE : NC_INT64;
    size_t width;

    _Static_assert(sizeof(*value) == sizeof(double), "a value is read as what it is");
    if (param->kind == PARAM_WORD)
        return read_words(view, param, length, value);
    int variable = column(view, param->name, param->kind == PARAM_REAL ? NC_DOUBLE : type, &width);
    if (variable < 0)
        return false;
    if (param->kind == PARAM_REAL)
        return nc_get_var_double(view->file, variable, &value->real) == NC_NOERR;
    return read_integers(view, variable, length, &value->integer);
}

/* Which parameters move along a dimension: all that are variables over it alone. */
static bool find_params(const struct view *view, struct axis *axis, int dimension)
{
    axis->param = calloc(param_count, sizeof(const struct param *));
    for (size_t i = 0; axis->param && i < param_count; i++) {
        int variable, count, dimensions[NC_MAX_VAR_DIMS];
        if (nc_inq_varid(view->file, param_table[i].name, &variable) == NC_NOERR &&
            nc_inq_var(view->file, variable, NULL, NULL, &count, dimensions, NULL) == NC_NOERR &&
            count >= 1 && dimensions[0] == dimension)
            axis->param[axis->param_count++] = &param_table[i];
    }
    return axis->param && axis->param_count > 0;
}

static bool read_axis(const struct view *view, struct axis *axis, int dimension)
{
    char name[NC_MAX_NAME + 1];
    size_t length;

    if (nc_inq_dim(view->file, dimension, name, &length) != NC_NOERR || length < 1 ||
        length > (size_t)view->bytes)
        return false;
    axis->name = strdup(name);
    axis->length = (int64_t)length;
    if (!axis->name || strcmp(lines_clean(axis->name), name) != 0 || !find_params(view, axis, dimension))
        return false;
    if (!param_find(name)) {
        axis->label = read_texts(view, name, axis->length);
        if (!axis->label)
            return false;
    }
    axis->value = calloc((size_t)axis->param_count * length, sizeof(*axis->value));
    for (int64_t i = 0; axis->value && i < axis->param_count; i++)
        if (!axis->param[i] ||
            !read_param(view, axis->param[i], axis->length, axis->value + i * axis->length) ||
            !within_bounds(axis->param[i], axis->value + i * axis->length, axis->length))
            return false;
    return axis->value != NULL;
}

static int read_axes(struct view *view, struct error *error)
{
    int outcome, count, dimensions[NC_MAX_VAR_DIMS];
    nc_type type;

    if (nc_inq_varid(view->file, run_variable_table[RUN_VARIABLE_outcome].name, &outcome) != NC_NOERR ||
        nc_inq_var(view->file, outcome, NULL, &type, &count, dimensions, NULL) != NC_NOERR ||
        type != NC_BYTE || count > AXES_MAX)
        return refuse(view, error);
    view->axis = calloc((size_t)count + 1, sizeof(*view->axis));
    if (!view->axis)
        return no_memory(view, error);
    view->axis_count = count;
    view->cells = 1;
    for (int i = 0; i < count; i++) {
        if (!read_axis(view, &view->axis[i], dimensions[i]) ||
            view->cells > view->bytes / view->axis[i].length)
            return refuse(view, error);
        view->cells *= view->axis[i].length;
    }
    return 0;
}

static int read_steps(struct view *view, struct error *error)
{
    size_t width;
    int variable = column(view, metric_dimension_table[DIMENSION_STEP].name, NC_INT64, &width);

    if (variable < 0 ||
        dimension_length(view, metric_dimension_table[DIMENSION_STEP].name, &view->step_count, error) != 0)
        return refuse(view, error);
    view->step = malloc((size_t)view->step_count * sizeof(*view->step));
    if (!view->step)
        return no_memory(view, error);
    return read_integers(view, variable, view->step_count, view->step) ? 0 : refuse(view, error);
}

static int read_lengths(struct view *view, struct error *error)
{
    int id;

    view->form.along[DIMENSION_STEP] = 1;
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++) {
        const char *name = metric_dimension_table[i].name;
        bool optional = !metric_dimension_needed(i, (const bool[GROUP_COUNT]){false});
        if (i == DIMENSION_STEP || (optional && nc_inq_dimid(view->file, name, &id) != NC_NOERR))
            continue;
        if (dimension_length(view, name, &view->form.along[i], error) != 0)
            return -1;
    }
    metric_form_place(&view->form);
    return dimension_length(view, SESSION_DIMENSION, &view->sessions, error);
}

static int read_all(struct view *view, struct error *error)
{
    if (check_header(view, error) != 0 || read_axes(view, error) != 0 || read_steps(view, error) != 0)
        return -1;
    return read_lengths(view, error);
}

/* As far as netCDF; on failure view_close is still to be called. */
static int open_file(struct view *view, const char *path, struct error *error)
{
    int status;

    *view = (struct view){.file = -1, .name = strdup(path)};
    if (!view->name)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    char *whole = realpath(path, NULL); /* netCDF takes some relative names for addresses */
    int result = layout_check_file(path, &view->bytes, error);
    if (result == 0 && (status = nc_open(whole ? whole : path, NC_NOWRITE, &view->file)) != NC_NOERR) {
        view->file = -1;
        result = status > 0 ? layout_error(error, path, status) : refuse(view, error);
    }
    free(whole);
    return result;
}

int view_open(struct view *view, const char *path, struct error *error)
{
    int result = open_file(view, path, error);

    if (result != 0)
        mistaken_dataset(path, error);
    else
        result = read_all(view, error);
    if (result != 0)
        view_close(view);
    return result;
}

bool view_is_dataset(const char *path)
{
    struct error ignored;
    struct view view;
    bool ours = open_file(&view, path, &ignored) == 0 && is_ours(&view);

    view_close(&view);
    return ours;
}

void view_close(struct view *view)
{
    if (view->file >= 0)
        nc_close(view->file);
    for (int64_t i = 0; i < view->axis_count; i++)
        axis_release(&view->axis[i]);
    free(view->axis);
    free(view->step);
    free(view->name);
    *view = (struct view){.file = -1};
}

static bool read_attribute(const struct view *view, const struct param *param, union param_value *value)
{
    if (param->kind == PARAM_WORD) {
        char *word = view_text(view, param->name);
        value->integer = word ? word_index(param, word) : -1;
        free(word);
        return value->integer >= 0;
    }
    if (param->kind != PARAM_REAL)
        return integer_attribute(view, param->name, &value->integer);
    size_t length;
    return nc_inq_attlen(view->file, NC_GLOBAL, param->name, &length) == NC_NOERR && length == 1 &&
           nc_get_att_double(view->file, NC_GLOBAL, param->name, &value->real) == NC_NOERR;
}

bool view_param(const struct view *view, const struct param *param, union param_value *value)
{
    return read_attribute(view, param, value) && within_bounds(param, value, 1);
}

char *view_text(const struct view *view, const char *name)
{
    nc_type type;
    size_t length;

    if (nc_inq_att(view->file, NC_GLOBAL, name, &type, &length) != NC_NOERR || type != NC_CHAR ||
        length > (size_t)view->bytes)
        return NULL;
    char *text = calloc(length + 1, 1);
    if (text && nc_get_att_text(view->file, NC_GLOBAL, name, text) == NC_NOERR)
        return text;
    free(text);
    return NULL;
}

const char *view_library(void)
{
    return nc_inq_libvers();
}
