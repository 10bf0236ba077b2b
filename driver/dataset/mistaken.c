#include "driver/dataset/mistaken.h"

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    char *beside = dataset_beside(path);
    struct stat status;

    if (beside && stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        view_is_dataset(beside))
        error_set(error, ERROR_INPUT, "%s: is no dataset of " PROGRAM "; its dataset is %s", path, beside);
    free(beside);
}
