#include "driver/text/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,@%=";

char *quote_path(const char *path)
{
    const char *folder = path[0] == '-' ? "./" : "";
    char *quoted = malloc(strlen(folder) + 4 * strlen(path) + 3), *end = quoted;

    if (!quoted)
        return NULL;
    if (path[0] && !path[strspn(path, plain)]) {
        sprintf(quoted, "%s%s", folder, path);
        return quoted;
    }
    end = stpcpy(stpcpy(end, "'"), folder);
    for (; *path; path++) /* 'don'\''t': close the quotes, escape one, open them again */
        if (*path == '\'')
            end = stpcpy(end, "'\\''");
        else
            *end++ = *path;
    strcpy(end, "'");
    return quoted;
}
