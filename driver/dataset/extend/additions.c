/*
 * People add to a dataset: a note with ncatted, a variable of their own with xarray or ncap2. When the file
 * is rewritten, all of this is kept, and the global `title`, which the CF conventions want and anybody may
 * edit. Other variables and attributes of the tables belong to this program: they are laid out again, and
 * changes that others have made to them are lost.
 *
 * A variable over a dimension whose places change has no values for the new places. The start is then
 * refused, because the values may exist nowhere else.
 */
#include "driver/dataset/extend/inside.h"

#include <math.h>
#include <unistd.h>

/* Two open files. */
struct transfer {
    const struct view *view;
    const struct match *match;
    const struct sweep *sweep;
    int from, to; /* of netCDF */
    double bytes; /* that were added to `from`, as far as it was looked at */
    int first; /* variables of `to` from this one on are additions */
    struct error *error;
};

static int refuse(const struct transfer *transfer, const char *name, const char *why)
{
    return error_set(transfer->error, ERROR_INPUT,
        "%s: %s, which " PROGRAM " did not write, cannot be kept: %s; save it elsewhere and take it out, or "
        "use another -o",
        transfer->view->name, name, why);
}

/* All names come from the file: an attribute that is not found could not be looked up for lack of memory. */
static int check(const struct transfer *transfer, const char *name, int status)
{
    if (status == NC_NOERR)
        return 0;
    if (status == NC_ENOTATT)
        status = NC_ENOMEM;
    if (status == NC_ENOMEM || status > 0)
        return layout_error(transfer->error, transfer->view->name, status);
    return refuse(transfer, name, nc_strerror(status));
}

/* ---- attributes ---- */

/* Is an attribute that the new file lacks this program's all the same, as it depends on the layout, or on
 * keys that may be taken out? `variable` is one of the tables, or NC_GLOBAL. */
static bool is_own_attribute(int variable, const char *name)
{
    static const char *const global[] = {
#define X(name, meaning) name,
        ATTRIBUTES(X)
#undef X
    };

    if (variable != NC_GLOBAL)
        return strcmp(name, "_FillValue") == 0 || strcmp(name, "coordinates") == 0;
    for (size_t i = 0; i < sizeof(global) / sizeof(*global); i++)
        if (strcmp(name, global[i]) == 0)
            return true;
    return param_find(name); /* it may have become an axis */
}

/* Copies the attributes that the new file does not have; `own`: of a variable that the tables know. */
static int copy_attributes(struct transfer *transfer, int from, int to, bool own)
{
    int count = 0, result;

    result = from == NC_GLOBAL ? nc_inq_natts(transfer->from, &count)
                               : nc_inq_varnatts(transfer->from, from, &count);
    result = check(transfer, "an attribute", result);
    for (int i = 0; result == 0 && i < count; i++) {
        char name[NC_MAX_NAME + 1];
        size_t length = 0, size = 0;
        nc_type type;
        result = check(transfer, "an attribute", nc_inq_attname(transfer->from, from, i, name));
        if (result != 0 || (own && is_own_attribute(from, name)))
            continue;
        int status = lookup_attribute(transfer->to, to, name, NULL, NULL);
        if (status == NC_NOERR)
            continue;
        if (status == NC_ENOTATT)
            status = lookup_attribute(transfer->from, from, name, &type, &length);
        if (status == NC_NOERR)
            status = nc_inq_type(transfer->from, type, NULL, &size);
        if (status == NC_NOERR)
            status = nc_copy_att(transfer->from, from, name, transfer->to, to);
        transfer->bytes += (double)strlen(name) + (double)length * (double)size;
        result = check(transfer, name, status);
    }
    return result;
}

/* ---- variables ---- */

/* Does a variable of this name say what is along one of the axes? */
static bool is_coordinate(int64_t axis_count, const struct axis *axis, const char *name)
{
    const struct param *param = param_find(name);

    return (param && axis_find(axis_count, axis, param)) || axis_named(axis_count, axis, name) >= 0;
}

/* Has a dimension of the file the same places in the new one? */
static bool keeps_places(const struct transfer *transfer, const char *name, size_t length, int dimension)
{
    const struct view *view = transfer->view;
    size_t now;

    if (nc_inq_dimlen(transfer->to, dimension, &now) != NC_NOERR || now != length)
        return false;
    int64_t axis = axis_named(view->axis_count, view->axis, name);
    for (int64_t j = 0; axis >= 0 && j < view->axis[axis].length; j++)
        if (transfer->match->to[axis][j] != j)
            return false;
    return true;
}

/* The new file's dimension of the same name, made where there is none. */
static int define_dimension(const struct transfer *transfer, const char *variable, int from, int *to)
{
    char name[NC_MAX_NAME + 1], why[NC_MAX_NAME + 32];
    size_t length;
    int result = check(transfer, variable, nc_inq_dim(transfer->from, from, name, &length));

    if (result != 0)
        return result;
    if (lookup_dimension(transfer->to, name, to) != NC_NOERR)
        return check(transfer, variable, nc_def_dim(transfer->to, name, length, to));
    if (keeps_places(transfer, name, length, *to))
        return 0;
    snprintf(why, sizeof(why), "it is over %s, which changes", name);
    return refuse(transfer, variable, why);
}

/* The number of places along the first dimension, the values at one of them, and their bytes. A netCDF
 * status. */
static int inquire_rows(
    const struct transfer *transfer, int from, size_t *rows, size_t count[NC_MAX_VAR_DIMS], size_t *size)
{
    int rank = 0, dimension[NC_MAX_VAR_DIMS] = {0}, status;
    nc_type type = NC_NAT;

    status = nc_inq_var(transfer->from, from, NULL, &type, &rank, dimension, NULL);
    if (status == NC_NOERR)
        status = nc_inq_type(transfer->from, type, NULL, size);
    *rows = count[0] = 1;
    for (int i = 0; status == NC_NOERR && i < rank; i++) {
        count[i] = 0;
        status = nc_inq_dimlen(transfer->from, dimension[i], &count[i]);
        *size *= i ? count[i] : 1;
    }
    if (rank > 0) {
        *rows = count[0];
        count[0] = 1;
    }
    return status;
}

static int define_variable(struct transfer *transfer, int from, const char *name)
{
    int count = 0, old[NC_MAX_VAR_DIMS], new[NC_MAX_VAR_DIMS], to = -1, result;
    size_t rows = 0, row[NC_MAX_VAR_DIMS], size = 0;
    nc_type type = NC_NAT;

    result = check(transfer, name, nc_inq_var(transfer->from, from, NULL, &type, &count, old, NULL));
    for (int i = 0; result == 0 && i < count; i++)
        result = define_dimension(transfer, name, old[i], &new[i]);
    if (result == 0)
        result = check(transfer, name, nc_def_var(transfer->to, name, type, count, new, &to));
    if (result == 0)
        result = check(transfer, name, inquire_rows(transfer, from, &rows, row, &size));
    transfer->bytes += (double)strlen(name) + (double)rows * (double)size;
    return result == 0 ? copy_attributes(transfer, from, to, false) : result;
}

/* Defines what was added, after nc_redef. */
static int define_all(struct transfer *transfer)
{
    const struct view *view = transfer->view;
    const struct sweep *sweep = transfer->sweep;
    int count = 0, result = check(transfer, "an attribute", nc_redef(transfer->to));

    if (result == 0)
        result = copy_attributes(transfer, NC_GLOBAL, NC_GLOBAL, true);
    if (result == 0)
        result = check(transfer, "a variable", nc_inq_nvars(transfer->from, &count));
    if (result == 0)
        result = check(transfer, "a variable", nc_inq_nvars(transfer->to, &transfer->first));
    for (int i = 0; result == 0 && i < count; i++) {
        char name[NC_MAX_NAME + 1];
        int to;
        result = check(transfer, "a variable", nc_inq_varname(transfer->from, i, name));
        if (result != 0)
            break;
        bool there = lookup_variable(transfer->to, name, &to) == NC_NOERR;
        bool was_axis = is_coordinate(view->axis_count, view->axis, name);
        bool is_axis = is_coordinate(sweep->axis_count, sweep->axis, name);
        if (there && is_axis && !was_axis)
            result = refuse(transfer, name, "it has the name of an axis of the sweep");
        else if (there)
            result = copy_attributes(transfer, i, to, true);
        else if (!was_axis) /* else the axis has become a fixed parameter */
            result = define_variable(transfer, i, name);
    }
    return result;
}

/* Copies the values of the variables that define_all has defined, by places of their first dimension. */
static int copy_values(const struct transfer *transfer)
{
    int count = 0, result = check(transfer, "a variable", nc_inq_nvars(transfer->to, &count));

    for (int to = transfer->first; result == 0 && to < count; to++) {
        size_t start[NC_MAX_VAR_DIMS] = {0}, range[NC_MAX_VAR_DIMS], size = 0, rows = 0;
        char name[NC_MAX_NAME + 1] = "a variable";
        int from, status = nc_inq_varname(transfer->to, to, name);
        if (status == NC_NOERR)
            status = lookup_variable(transfer->from, name, &from);
        if (status == NC_NOERR)
            status = inquire_rows(transfer, from, &rows, range, &size);
        void *row = malloc(size + 1);
        status = status == NC_NOERR && !row ? NC_ENOMEM : status;
        for (size_t i = 0; status == NC_NOERR && size > 0 && i < rows; i++) {
            start[0] = i;
            status = nc_get_vara(transfer->from, from, start, range, row);
            if (status == NC_NOERR)
                status = nc_put_vara(transfer->to, to, start, range, row);
        }
        free(row);
        result = check(transfer, name, status);
    }
    return result;
}

int additions_find(const struct view *view, const struct match *match, const struct layout *layout,
    double *bytes, struct error *error)
{
    struct transfer transfer = {
        .view = view, .match = match, .sweep = layout->sweep, .from = view->file, .error = error};
    char path[LAYOUT_PATH];
    int result = 0, memory = layout_in_memory(layout, path);

    *bytes = NAN;
    if (memory < 0)
        return 0;
    if (nc_open(path, NC_WRITE, &transfer.to) == NC_NOERR) {
        result = define_all(&transfer);
        *bytes = transfer.bytes;
        nc_abort(transfer.to); /* what was only defined has not moved any value */
    }
    close(memory);
    return result;
}

int additions_copy(const struct view *view, const struct match *match, const struct layout *layout,
    const char *path, struct error *error)
{
    struct transfer transfer = {
        .view = view, .match = match, .sweep = layout->sweep, .from = view->file, .error = error};
    int status = nc_open(path, NC_WRITE, &transfer.to);

    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    int result = define_all(&transfer);
    if (result == 0) /* begins of variables stay multiples of 8: see table.c */
        result = check(&transfer, "an attribute", nc__enddef(transfer.to, 0, 8, 0, 8));
    if (result == 0)
        result = copy_values(&transfer);
    status = result == 0 ? written_close(transfer.to) : nc_abort(transfer.to);
    return result == 0 && status != NC_NOERR ? layout_error(error, view->name, status) : result;
}
