/* Reads the attributes of a dataset. In a netCDF-4 copy a text may be a value of type string. */
#include "driver/dataset/view_attributes.h"
#include "driver/dataset/view_inside.h"

#include <netcdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool view_is_number(nc_type type)
{
    return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

bool view_attribute_number(const struct view *view, int variable, const char *name, double *value)
{
    nc_type type;
    size_t length;

    return nc_inq_att(view->file, variable, name, &type, &length) == NC_NOERR && view_is_number(type) &&
           length == 1 && nc_get_att_double(view->file, variable, name, value) == NC_NOERR;
}

static char *read_string(const struct view *view, int variable, const char *name)
{
    char *string = NULL, *text = NULL;

    if (nc_get_att_string(view->file, variable, name, &string) != NC_NOERR)
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

    errno = 0;
    if (nc_inq_att(view->file, variable, name, &type, &length) != NC_NOERR)
        return NULL;
    if (type == NC_STRING && length == 1)
        return read_string(view, variable, name);
    if (type != NC_CHAR || length > (size_t)view->most)
        return NULL;
    char *text = calloc(length + 1, 1);
    if (text && nc_get_att_text(view->file, variable, name, text) == NC_NOERR)
        return text;
    errno = text ? 0 : ENOMEM;
    free(text);
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
