#include "driver/text/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/printable.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,@%=";

static bool is_printable(const char *text)
{
    size_t length = 1;

    for (; *text && length; text += length)
        length = printable_length(text);
    return length > 0;
}

char *quote_path(const char *path)
{
    const char *folder = path[0] == '-' ? "./" : "";
    bool shown = is_printable(path);
    char *quoted = malloc(strlen(folder) + 4 * strlen(path) + 4), *end = quoted;

    if (!quoted)
        return NULL;
    if (path[0] && !path[strspn(path, plain)]) {
        sprintf(quoted, "%s%s", folder, path);
        return quoted;
    }
    end = stpcpy(stpcpy(end, shown ? "'" : "$'"), folder);
    for (; *path; path++)
        if (*path == '\'') /* 'don'\''t': close the quotes, escape one, open them again */
            end = stpcpy(end, shown ? "'\\''" : "\\'");
        else if (!shown && *path == '\\')
            end = stpcpy(end, "\\\\");
        else if (!shown && (*path < 0x20 || *path > 0x7e))
            end += sprintf(end, "\\%03o", (unsigned char)*path);
        else
            *end++ = *path;
    strcpy(end, "'");
    return quoted;
}

void quote_put_output(const char *path)
{
    char *shown = strchr(path, '\n') ? quote_path(path) : strdup(path);

    printf("output=%s\n", shown ? shown : "");
    free(shown);
}
