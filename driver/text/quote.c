#include "driver/text/text.h"
#include "model/core/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct string quoted = {0};

    if (path[0] && !path[strspn(path, plain)])
        return memory_format("%s%s", folder, path);
    string_format(&quoted, "%s%s", shown ? "'" : "$'", folder);
    for (; *path; path++)
        if (*path == '\'') /* 'don'\''t': close the quotes, escape one, open them again */
            string_format(&quoted, "%s", shown ? "'\\''" : "\\'");
        else if (!shown && *path == '\\')
            string_format(&quoted, "\\\\");
        else if (!shown && (*path < 0x20 || *path > 0x7e))
            string_format(&quoted, "\\%03o", (unsigned char)*path);
        else
            string_add(&quoted, path, 1);
    string_add(&quoted, "'", 1);
    return string_take(&quoted);
}

void quote_put_output(const char *path)
{
    char *quoted = strchr(path, '\n') ? quote_path(path) : NULL;

    printf("output=%s\n", quoted ? quoted : path);
    free(quoted);
}
