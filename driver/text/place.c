/*
 * Messages with the place in a sweep file: "sweep.yaml:12:18: ...". Settings of the command line have no
 * line; for them the message begins with --set.
 */
#include "driver/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int place_prefix(struct error *error, const char *file, struct place place)
{
    const char *name = place.file ? place.file : file;
    struct error fault = *error;

    if (place.line > 0)
        return error_prefix(error, "%s:%d:%d", name, place.line, place.column);
    if (place.column > 0)
        return error_set(error, fault.status, "--set %s", fault.text);
    return error_prefix(error, "%s:1:1", name);
}

int place_error(struct error *error, const char *file, struct place place, const char *format, ...)
{
    char text[sizeof(error->text)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    error_set(error, ERROR_INPUT, "%s", text);
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
