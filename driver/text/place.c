#include "driver/text/place.h"

#include "driver/text/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int place_clean(struct error *error)
{
    lines_clean(error->text);
    return -1;
}

int place_prefix(struct error *error, const char *file, struct place place)
{
    const char *name = place.file ? place.file : file;
    char text[sizeof(error->text)];

    memcpy(text, error->text, sizeof(text));
    if (place.line > 0)
        error_prefix(error, "%s:%d:%d", name, place.line, place.column);
    else if (place.column > 0)
        snprintf(error->text, sizeof(error->text), "--set %.*s", (int)sizeof(text) - 8, text);
    else
        error_prefix(error, "%s:1:1", name);
    return place_clean(error);
}

int place_error(struct error *error, const char *file, struct place place, const char *format, ...)
{
    va_list arguments;

    error->status = ERROR_INPUT;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return place_prefix(error, file, place);
}

const char *place_excerpt(const char *text, char excerpt[EXCERPT_SIZE])
{
    const size_t most = 40;
    size_t length = strlen(text);

    if (length <= most + 3) {
        memcpy(excerpt, text, length + 1);
        return excerpt;
    }
    length = most;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    snprintf(excerpt, EXCERPT_SIZE, "%.*s...", (int)length, text);
    return excerpt;
}
