#include "driver/dataset/dataset.h"

#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "first.nc" for "first.yaml" or "first.yml"; NULL for other names, or without memory. The caller frees it.
 */
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
    struct error ignored;
    struct stat status;

    if (!beside || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        free(beside);
        return;
    }
    if (view_check(beside, &ignored) == 0)
        error_set(error, ERROR_INPUT, "%s: is not a " PROGRAM " dataset; its dataset is %s", path, beside);
    else
        error_set(error, ERROR_INPUT,
            "%s: is not a " PROGRAM " dataset; if it is a sweep file, give the dataset that run writes",
            path);
    free(beside);
}
