/* Reads the attributes of a dataset. In a netCDF-4 copy a text may be a value of type string. */
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/inside.h"

#include <netcdf.h>

#include <stdlib.h>
#include <string.h>

bool view_is_number(nc_type type)
{
    return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

/* Keeps the errno of a status with which something could not be read. */
static void keep_cause(int *cause, int status)
{
    if (cause && lookup_cause(status))
        *cause = lookup_cause(status);
}

static bool has_attribute(
    const struct view *view, int variable, const char *name, nc_type *type, size_t *length, int *cause)
{
    int status = lookup_attribute(view->file, variable, name, type, length);

    if (status != NC_ENOTATT)
        keep_cause(cause, status);
    return status == NC_NOERR;
}

/* The same for the status with which an attribute that is there was read. */
static bool was_read(int status, int *cause)
{
    keep_cause(cause, status);
    return status == NC_NOERR;
}

bool view_attribute_number(const struct view *view, int variable, const char *name, double *value, int *cause)
{
    nc_type type;
    size_t length;

    return has_attribute(view, variable, name, &type, &length, cause) && view_is_number(type) &&
           length == 1 && was_read(nc_get_att_double(view->file, variable, name, value), cause);
}

bool view_attribute_integer(const struct view *view, const char *name, int64_t *value, int *cause)
{
    long long number;
    nc_type type;
    size_t length;

    if (!has_attribute(view, NC_GLOBAL, name, &type, &length, cause) || length != 1)
        return false;
    if (!view_is_number(type) || type == NC_FLOAT || type == NC_DOUBLE)
        return false;
    if (!was_read(nc_get_att_longlong(view->file, NC_GLOBAL, name, &number), cause))
        return false;
    *value = number;
    return true;
}

static char *read_string(const struct view *view, int variable, const char *name, int *cause)
{
    char *string = NULL, *text = NULL;

    if (!was_read(nc_get_att_string(view->file, variable, name, &string), cause))
        return NULL;
    bool there = string != NULL;
    if (there)
        text = strdup(string);
    nc_free_string(1, &string);
    if (there && !text)
        keep_cause(cause, NC_ENOMEM);
    return text;
}

static char *read_text(const struct view *view, int variable, const char *name, int *cause)
{
    nc_type type;
    size_t length;

    if (!has_attribute(view, variable, name, &type, &length, cause))
        return NULL;
    if (type == NC_STRING && length == 1)
        return read_string(view, variable, name, cause);
    if (type != NC_CHAR || length > (size_t)view->most)
        return NULL;
    char *text = calloc(length + 1, 1);
    int status = text ? nc_get_att_text(view->file, variable, name, text) : NC_ENOMEM;
    if (was_read(status, cause))
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
