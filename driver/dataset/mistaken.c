#include "driver/dataset/mistaken.h"

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAGIC = 4 }; /* bytes at a file's beginning that tell what it is */

static const char cdf[] = "CDF", hdf[] = "\x89HDF";

/* Of a plain file: what is read of another is lost to those who are to read it, or keeps them waiting. */
static void read_magic(const char *path, char magic[MAGIC + 1])
{
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;

    memset(magic, 0, MAGIC + 1);
    if (!file)
        return;
    magic[fread(magic, 1, MAGIC, file)] = '\0';
    fclose(file);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

int mistaken_sweep(const char *path, struct error *error)
{
    char magic[MAGIC + 1];

    read_magic(path, magic);
    if (!begins(magic, cdf) && !begins(magic, hdf))
        return 0;
    return error_set(error, ERROR_INPUT, "%s: is a dataset: give its sweep file", path);
}

/* "first.nc" of "first.yaml", and of "first.yml"; NULL: it is called otherwise, or there is no memory. The
 * caller's to free. */
static char *dataset_beside(const char *path)
{
    const char *dot = strrchr(path, '.');
    char *beside;

    if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0))
        return NULL;
    return asprintf(&beside, "%.*s.nc", (int)(dot - path), path) < 0 ? NULL : beside;
}

void mistaken_dataset(const char *path, struct error *error)
{
    char magic[MAGIC + 1], *beside = dataset_beside(path);

    read_magic(path, magic);
    if (magic[0] && beside && view_is_dataset(beside))
        error_set(error, ERROR_INPUT, "%s: is no dataset of " PROGRAM "; its dataset is %s", path, beside);
    free(beside);
}
