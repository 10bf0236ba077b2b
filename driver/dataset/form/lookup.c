/*
 * The library normalises each name before it looks it up. If it gets no memory for that, it says that the
 * name does not exist: a copied dataset would then lack the values of a variable. The names in an open file
 * can be read without memory, and are compared here.
 */
#include "driver/dataset/form/inside.h"

#include <stdbool.h>
#include <string.h>

/* Looks for a name among the first `count` of a kind. False: it is not there. */
static bool find(int file, int count, int (*name_of)(int, int, char *), const char *name, int *id)
{
    char found[NC_MAX_NAME + 1];

    for (int i = 0; i < count; i++)
        if (name_of(file, i, found) == NC_NOERR && strcmp(found, name) == 0) {
            *id = i;
            return true;
        }
    return false;
}

int lookup_variable(int file, const char *name, int *variable)
{
    int count = 0, status = nc_inq_varid(file, name, variable);

    if (status != NC_ENOTVAR)
        return status;
    nc_inq_nvars(file, &count);
    return find(file, count, nc_inq_varname, name, variable) ? NC_NOERR : status;
}

bool lookup_has_variable(int file, const char *name)
{
    int variable;

    return lookup_variable(file, name, &variable) != NC_ENOTVAR;
}

int lookup_dimension(int file, const char *name, int *dimension)
{
    int count = 0, status = nc_inq_dimid(file, name, dimension);

    if (status != NC_EBADDIM)
        return status;
    nc_inq_ndims(file, &count);
    return find(file, count, nc_inq_dimname, name, dimension) ? NC_NOERR : status;
}

int lookup_attribute(int file, int variable, const char *name, nc_type *type, size_t *length)
{
    int count = 0, status = nc_inq_att(file, variable, name, type, length);
    char found[NC_MAX_NAME + 1];

    if (status != NC_ENOTATT)
        return status;
    nc_inq_varnatts(file, variable, &count);
    for (int i = 0; i < count; i++)
        if (nc_inq_attname(file, variable, i, found) == NC_NOERR && strcmp(found, name) == 0)
            return NC_ENOMEM;
    return status;
}
