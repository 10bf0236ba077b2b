/*
 * People add to a dataset: a note with ncatted, a variable of their own with xarray or ncap2. A file that is
 * written anew keeps all of it. What the tables know is this program's: it is laid out anew, and what others
 * have changed of it is not taken over.
 *
 * A variable over a dimension whose places change has no place for the new ones' values: the start is refused
 * then, rather than that something is lost which may exist nowhere else.
 */
#include "driver/dataset/foreign.h"

#include "worker/checkpoint/written.h"

#include <netcdf.h>

#include <stdlib.h>
#include <string.h>

/* Two open files. */
struct transfer {
    const struct view *view;
    const struct mapping *mapping;
    int from, to; /* of netCDF */
    struct error *error;
};

static int refuse(const struct transfer *transfer, const char *name, const char *why)
{
    return error_set(transfer->error, ERROR_INPUT,
        "%s: %s, which " PROGRAM " did not write, cannot be kept: %s; save it elsewhere and take it out, or "
        "use another -o",
        transfer->view->name, name, why);
}

static int check(const struct transfer *transfer, const char *name, int status)
{
    if (status == NC_NOERR)
        return 0;
    if (status == NC_ENOMEM || status > 0)
        return layout_error(transfer->error, transfer->view->name, status);
    return refuse(transfer, name, nc_strerror(status));
}

/* ---- attributes ---- */

/* Of a variable, or NC_GLOBAL, that the tables know: what depends on the layout is not another's to say. */
static bool is_own_attribute(int variable, const char *name)
{
    if (variable == NC_GLOBAL)
        return param_find(name) != NULL; /* it has become an axis */
    return strcmp(name, "_FillValue") == 0 || strcmp(name, "coordinates") == 0;
}

/* Those that the new file does not have; `own`: of a variable that the tables know. */
static int copy_attributes(const struct transfer *transfer, int from, int to, bool own)
{
    char name[NC_MAX_NAME + 1];
    int count = 0, known, result;

    result = from == NC_GLOBAL ? nc_inq_natts(transfer->from, &count)
                               : nc_inq_varnatts(transfer->from, from, &count);
    result = check(transfer, "an attribute", result);
    for (int i = 0; result == 0 && i < count; i++) {
        result = check(transfer, "an attribute", nc_inq_attname(transfer->from, from, i, name));
        if (result != 0 || nc_inq_attid(transfer->to, to, name, &known) == NC_NOERR ||
            (own && is_own_attribute(from, name)))
            continue;
        result = check(transfer, name, nc_copy_att(transfer->from, from, name, transfer->to, to));
    }
    return result;
}

/* What was done to the file before, below the line that says when it was laid out anew. */
static int copy_history(const struct transfer *transfer)
{
    size_t old = 0, new = 0;
    nc_type type;

    if (nc_inq_att(transfer->from, NC_GLOBAL, ATTRIBUTE_HISTORY, &type, &old) != NC_NOERR ||
        type != NC_CHAR || nc_inq_attlen(transfer->to, NC_GLOBAL, ATTRIBUTE_HISTORY, &new) != NC_NOERR)
        return 0;
    char *text = malloc(new + 1 + old);
    int status = text ? nc_get_att_text(transfer->to, NC_GLOBAL, ATTRIBUTE_HISTORY, text) : NC_ENOMEM;
    if (status == NC_NOERR) {
        text[new] = '\n';
        status = nc_get_att_text(transfer->from, NC_GLOBAL, ATTRIBUTE_HISTORY, text + new + 1);
    }
    if (status == NC_NOERR)
        status = nc_put_att_text(transfer->to, NC_GLOBAL, ATTRIBUTE_HISTORY, new + 1 + old, text);
    free(text);
    return check(transfer, ATTRIBUTE_HISTORY, status);
}

/* ---- variables ---- */

/* Is it one that the tables know, whether or not the new file has it? */
static bool is_own_variable(const struct transfer *transfer, const char *name)
{
    int variable;

    return nc_inq_varid(transfer->to, name, &variable) == NC_NOERR || param_find(name);
}

/* Has a dimension of the file the same places in the new one? */
static bool keeps_places(const struct transfer *transfer, const char *name, size_t length, int dimension)
{
    const struct view *view = transfer->view;
    size_t now;

    if (nc_inq_dimlen(transfer->to, dimension, &now) != NC_NOERR || now != length)
        return false;
    for (int64_t i = 0; i < view->axis_count; i++)
        for (int64_t j = 0; strcmp(view->axis[i].name, name) == 0 && j < view->axis[i].length; j++)
            if (transfer->mapping->to[i][j] != j)
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
    if (nc_inq_dimid(transfer->to, name, to) != NC_NOERR)
        return check(transfer, variable, nc_def_dim(transfer->to, name, length, to));
    if (keeps_places(transfer, name, length, *to))
        return 0;
    snprintf(why, sizeof(why), "it is over %s, which changes", name);
    return refuse(transfer, variable, why);
}

static int define_variable(const struct transfer *transfer, int from, const char *name)
{
    int count = 0, old[NC_MAX_VAR_DIMS], new[NC_MAX_VAR_DIMS], to = -1, result;
    nc_type type = NC_NAT;

    result = check(transfer, name, nc_inq_var(transfer->from, from, NULL, &type, &count, old, NULL));
    for (int i = 0; result == 0 && i < count; i++)
        result = define_dimension(transfer, name, old[i], &new[i]);
    if (result == 0)
        result = check(transfer, name, nc_def_var(transfer->to, name, type, count, new, &to));
    return result == 0 ? copy_attributes(transfer, from, to, false) : result;
}

/* Its values, by places of the first dimension. */
static int copy_values(const struct transfer *transfer, int from, int to, const char *name)
{
    size_t start[NC_MAX_VAR_DIMS] = {0}, count[NC_MAX_VAR_DIMS] = {1}, size = 0, rows = 1;
    int rank = 0, dimension[NC_MAX_VAR_DIMS], status;
    nc_type type = NC_NAT;

    status = nc_inq_var(transfer->from, from, NULL, &type, &rank, dimension, NULL);
    if (status == NC_NOERR)
        status = nc_inq_type(transfer->from, type, NULL, &size);
    for (int i = 0; status == NC_NOERR && i < rank; i++) {
        status = nc_inq_dimlen(transfer->from, dimension[i], &count[i]);
        size *= i ? count[i] : 1;
    }
    if (rank > 0) {
        rows = count[0];
        count[0] = 1;
    }
    void *row = malloc(size + 1);
    status = status == NC_NOERR && !row ? NC_ENOMEM : status;
    for (size_t i = 0; status == NC_NOERR && size > 0 && i < rows; i++) {
        start[0] = i;
        status = nc_get_vara(transfer->from, from, start, count, row);
        if (status == NC_NOERR)
            status = nc_put_vara(transfer->to, to, start, count, row);
    }
    free(row);
    return check(transfer, name, status);
}

enum visit { VISIT_DEFINE, VISIT_FILL };

/* All variables of the file; what the first visit has defined, the second fills. `own` [count]. */
static int visit_variables(const struct transfer *transfer, enum visit visit, int count, bool *own)
{
    char name[NC_MAX_NAME + 1];
    int result = 0, to;

    for (int i = 0; result == 0 && i < count; i++) {
        result = check(transfer, "a variable", nc_inq_varname(transfer->from, i, name));
        if (result != 0)
            break;
        if (visit == VISIT_DEFINE)
            own[i] = is_own_variable(transfer, name);
        bool there = nc_inq_varid(transfer->to, name, &to) == NC_NOERR;
        if (visit == VISIT_DEFINE && !own[i])
            result = define_variable(transfer, i, name);
        else if (visit == VISIT_DEFINE && there)
            result = copy_attributes(transfer, i, to, true);
        else if (visit == VISIT_FILL && !own[i])
            result = there ? copy_values(transfer, i, to, name) : check(transfer, name, NC_ENOTVAR);
    }
    return result;
}

/* Begins of variables stay multiples of 8: see header.c. */
static int copy_all(const struct transfer *transfer, int count, bool *own)
{
    int result = check(transfer, "an attribute", nc_redef(transfer->to));

    if (result == 0)
        result = copy_attributes(transfer, NC_GLOBAL, NC_GLOBAL, true);
    if (result == 0)
        result = copy_history(transfer);
    if (result == 0)
        result = visit_variables(transfer, VISIT_DEFINE, count, own);
    if (result == 0)
        result = check(transfer, "an attribute", nc__enddef(transfer->to, 0, 8, 0, 8));
    return result == 0 ? visit_variables(transfer, VISIT_FILL, count, own) : result;
}

int foreign_copy(
    const struct view *view, const struct mapping *mapping, const char *path, struct error *error)
{
    struct transfer transfer = {.view = view, .mapping = mapping, .from = view->file, .error = error};
    int count = 0, status = nc_open(path, NC_WRITE, &transfer.to);

    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    status = nc_inq_nvars(view->file, &count);
    bool *own = calloc((size_t)count + 1, sizeof(*own));
    int result = check(&transfer, "a variable", own ? status : NC_ENOMEM);
    if (result == 0)
        result = copy_all(&transfer, count, own);
    free(own);
    status = result == 0 ? written_close(transfer.to) : nc_abort(transfer.to);
    return result == 0 && status != NC_NOERR ? layout_error(error, view->name, status) : result;
}
