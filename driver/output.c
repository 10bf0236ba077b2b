#include "driver/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

/* "folder/name" with the links of the folder alone followed. */
static char *resolve_folder(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *folder = copy ? realpath(copy, NULL) : NULL, *whole = NULL;

    if (folder && asprintf(&whole, "%s/%s", folder, name) < 0)
        whole = NULL;
    free(copy);
    free(folder);
    return whole;
}

/* What the link at an absolute path says, absolute; NULL where there is no link. */
static char *link_target(const char *path)
{
    char target[PATH_MAX], *whole = NULL;
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length < 0)
        return NULL;
    target[length] = '\0';
    int folder = target[0] == '/' ? 0 : (int)(strrchr(path, '/') - path) + 1;
    return asprintf(&whole, "%.*s%s", folder, path, target) < 0 ? NULL : whole;
}

char *output_resolve(const char *path)
{
    char *whole = realpath(path, NULL);

    if (whole || errno != ENOENT)
        return whole;
    whole = resolve_folder(path);
    for (int links = 0; whole; links++) {
        char *target = link_target(whole);
        if (!target)
            return whole;
        free(whole);
        errno = ELOOP;
        whole = links < LINKS_MOST ? resolve_folder(target) : NULL;
        free(target);
    }
    return NULL;
}
