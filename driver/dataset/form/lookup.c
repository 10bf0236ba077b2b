/*
 * The library normalises each name before it looks it up. If it gets no memory for that, it says that the
 * name does not exist: a copied dataset would then lack the values of a variable. The names in an open file
 * can be read without memory, and are compared here.
 */
#include "driver/dataset/form/inside.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_named(int status, const char *found, const char *name)
{
    return status == NC_NOERR && strcmp(found, name) == 0;
}

int lookup_variable(int file, const char *name, int *variable)
{
    int count = 0, status = nc_inq_varid(file, name, variable);
    char found[NC_MAX_NAME + 1];

    if (status != NC_ENOTVAR)
        return status;
    nc_inq_nvars(file, &count);
    for (int i = 0; i < count; i++)
        if (is_named(nc_inq_varname(file, i, found), found, name)) {
            *variable = i;
            return NC_NOERR;
        }
    return status;
}

bool lookup_has_variable(int file, const char *name)
{
    int variable;

    return lookup_variable(file, name, &variable) != NC_ENOTVAR;
}

int lookup_dimension(int file, const char *name, int *dimension)
{
    int count = 0, status = nc_inq_dimid(file, name, dimension);
    char found[NC_MAX_NAME + 1];

    if (status != NC_EBADDIM)
        return status;
    nc_inq_ndims(file, &count);
    for (int i = 0; i < count; i++)
        if (is_named(nc_inq_dimname(file, i, found), found, name)) {
            *dimension = i;
            return NC_NOERR;
        }
    return status;
}

int lookup_attribute(int file, int variable, const char *name, nc_type *type, size_t *length)
{
    int count = 0, status = nc_inq_att(file, variable, name, type, length);
    char found[NC_MAX_NAME + 1];

    if (status != NC_ENOTATT)
        return status;
    nc_inq_varnatts(file, variable, &count);
    for (int i = 0; i < count; i++)
        if (is_named(nc_inq_attname(file, variable, i, found), found, name))
            return NC_ENOMEM;
    return status;
}

int lookup_cause(int status)
{
    if (status == NC_ENOMEM || status == NC_ENOTATT)
        return ENOMEM;
    return status > 0 ? status : 0;
}
