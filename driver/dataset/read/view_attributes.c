/* Reads the attributes of a dataset. In a netCDF-4 copy a text may be a value of type string. */
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/inside.h"

#include <netcdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool view_is_number(nc_type type)
{
    return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

/* Sets errno to 0 if there is none, or to what kept it from being looked up. */
static bool has_attribute(
    const struct view *view, int variable, const char *name, nc_type *type, size_t *length)
{
    int status = lookup_attribute(view->file, variable, name, type, length);

    errno = status == NC_ENOTATT ? 0 : lookup_cause(status);
    return status == NC_NOERR;
}

/* The same for the status with which an attribute that is there was read. */
static bool was_read(int status)
{
    errno = lookup_cause(status);
    return status == NC_NOERR;
}

bool view_attribute_number(const struct view *view, int variable, const char *name, double *value)
{
    nc_type type;
    size_t length;

    return has_attribute(view, variable, name, &type, &length) && view_is_number(type) && length == 1 &&
           was_read(nc_get_att_double(view->file, variable, name, value));
}

bool view_attribute_integer(const struct view *view, const char *name, int64_t *value)
{
    long long number;
    nc_type type;
    size_t length;

    if (!has_attribute(view, NC_GLOBAL, name, &type, &length) || length != 1)
        return false;
    if (!view_is_number(type) || type == NC_FLOAT || type == NC_DOUBLE)
        return false;
    if (!was_read(nc_get_att_longlong(view->file, NC_GLOBAL, name, &number)))
        return false;
    *value = number;
    return true;
}

static char *read_string(const struct view *view, int variable, const char *name)
{
    char *string = NULL, *text = NULL;

    if (!was_read(nc_get_att_string(view->file, variable, name, &string)))
        return NULL;
    bool there = string != NULL;
    if (there)
        text = strdup(string);
    nc_free_string(1, &string);
    errno = there && !text ? ENOMEM : 0;
    return text;
}

static char *read_text(const struct view *view, int variable, const char *name)
{
    nc_type type;
    size_t length;

    if (!has_attribute(view, variable, name, &type, &length))
        return NULL;
    if (type == NC_STRING && length == 1)
        return read_string(view, variable, name);
    if (type != NC_CHAR || length > (size_t)view->most)
        return NULL;
    char *text = calloc(length + 1, 1);
    int status = text ? nc_get_att_text(view->file, variable, name, text) : NC_ENOMEM;
    if (was_read(status))
        return text;
    free(text);
    errno = lookup_cause(status);
    return NULL;
}

char *view_text(const struct view *view, const char *name)
{
    return read_text(view, NC_GLOBAL, name);
}

char *view_variable_text(const struct view *view, const struct view_variable *variable, const char *name)
{
    return read_text(view, variable->id, name);
}
