/*
 * The commands with which people make a compressed copy of a dataset, and a dataset of such a copy. Both are
 * nccopy's; messages name them, so that nobody has to look the options up.
 */
#include "driver/dataset/form/inside.h"
#include "driver/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "first-small.nc" for "first.nc". The caller frees it; NULL: no memory. */
static char *renamed(const char *path, const char *suffix)
{
    size_t length = strlen(path);
    size_t stem = length > 3 && strcmp(path + length - 3, ".nc") == 0 ? length - 3 : length;
    char *name;

    return asprintf(&name, "%.*s%s.nc", (int)stem, path, suffix) < 0 ? NULL : name;
}

/* "nccopy OPTIONS FROM TO"; if `after` is given, followed by it and TO once more. */
static char *nccopy(const char *options, const char *path, const char *suffix, const char *after)
{
    char *name = renamed(path, suffix), *from = quote_path(path), *to = name ? quote_path(name) : NULL;
    char *command = NULL;

    if (from && to &&
        asprintf(&command, "nccopy %s %s %s%s%s", options, from, to, after ? after : "", after ? to : "") < 0)
        command = NULL;
    free(name);
    free(from);
    free(to);
    return command;
}

char *conversion_to_copy(const char *path)
{
    return nccopy("-4 -d 5 -s", path, "-small", NULL);
}

char *conversion_back(const char *path, bool carry_on)
{
    return nccopy("-k cdf5", path, "-cdf5", carry_on ? ", then run with -o " : NULL);
}
