/*
 * The library normalises each name before it looks it up. If it gets no memory for that, it says that the
 * name does not exist: a copied dataset would then lack the values of a variable. The names in an open file
 * can be read without memory, and are compared here.
 */
#include "driver/dataset/form/inside.h"

#include <stdbool.h>
#include <string.h>

/* Looks up a variable or dimension; if the library says that it is not there, among all `count` of a kind. */
static int look_up(int file, const char *name, int *id, int (*id_of)(int, const char *, int *),
    int (*count_of)(int, int *), int (*name_of)(int, int, char *))
{
    char found[NC_MAX_NAME + 1];
    int count = 0, status = id_of(file, name, id);

    if (status != NC_ENOTVAR && status != NC_EBADDIM)
        return status;
    count_of(file, &count);
    for (int i = 0; i < count; i++)
        if (name_of(file, i, found) == NC_NOERR && strcmp(found, name) == 0) {
            *id = i;
            return NC_NOERR;
        }
    return status;
}

int lookup_variable(int file, const char *name, int *variable)
{
    return look_up(file, name, variable, nc_inq_varid, nc_inq_nvars, nc_inq_varname);
}

bool lookup_has_variable(int file, const char *name)
{
    int variable;

    return lookup_variable(file, name, &variable) != NC_ENOTVAR;
}

int lookup_dimension(int file, const char *name, int *dimension)
{
    return look_up(file, name, dimension, nc_inq_dimid, nc_inq_ndims, nc_inq_dimname);
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

int64_t lookup_type_bytes(int64_t type)
{
    /* none, byte, char, short, int, float, double, the unsigned byte, short and int, int64, unsigned int64 */
    static const signed char bytes[NC_UINT64 + 1] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

    return type >= 0 && type <= NC_UINT64 ? bytes[type] : 0;
}
