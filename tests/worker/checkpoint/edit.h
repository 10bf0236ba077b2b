#ifndef NORMSWEEP_TESTS_WORKER_CHECKPOINT_EDIT_H
#define NORMSWEEP_TESTS_WORKER_CHECKPOINT_EDIT_H

#include <netcdf.h>

#include "tests/test.h"
#include "worker/checkpoint/inside.h"

/* A change of a sealed file: of an attribute, or of the name of a variable or dimension. */
struct edit {
    const char *variable; /* whose attribute or name it is; NULL: the file's */
    const char *attribute; /* it is removed, unless one of these is its new value: */
    const char *word;
    nc_type type; /* of `whole` or `real`; NC_CHAR: the word is long */
    long long whole;
    double real;
    bool twice; /* `whole` stands there twice */
    const char *dimension; /* whose name changes */
    const char *renamed; /* the new name */
};

enum { EDITS_MOST = 3 };

static inline int edit_attribute(int file, int id, const struct edit *it)
{
    const long long whole[] = {it->whole, it->whole};
    char long_word[300];

    memset(long_word, 'x', sizeof(long_word));
    if (it->word)
        return nc_put_att_text(file, id, it->attribute, strlen(it->word), it->word);
    if (it->type == NC_CHAR)
        return nc_put_att_text(file, id, it->attribute, sizeof(long_word), long_word);
    if (it->type == NC_DOUBLE)
        return nc_put_att_double(file, id, it->attribute, it->type, 1, &it->real);
    if (it->type)
        return nc_put_att_longlong(file, id, it->attribute, it->type, 1 + it->twice, whole);
    return nc_del_att(file, id, it->attribute);
}

static inline void edit_file(const char *path, const struct edit edits[EDITS_MOST])
{
    int file, id;

    CHECK(nc_open(path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
    for (const struct edit *it = edits; it < edits + EDITS_MOST; it++) {
        id = NC_GLOBAL;
        if (it->variable)
            CHECK(nc_inq_varid(file, it->variable, &id) == NC_NOERR);
        if (it->dimension)
            CHECK(nc_inq_dimid(file, it->dimension, &id) == NC_NOERR &&
                  nc_rename_dim(file, id, it->renamed) == NC_NOERR);
        else if (it->renamed)
            CHECK(nc_rename_var(file, id, it->renamed) == NC_NOERR);
        else if (it->attribute)
            CHECK(edit_attribute(file, id, it) == NC_NOERR);
    }
    CHECK(nc_close(file) == NC_NOERR && seal_put(path, NULL) == 0);
}

#endif
