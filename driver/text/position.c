/*
 * Messages with the position in a sweep file: "sweep.yaml:12:18: ...". Settings of the command line have no
 * line; for them the message begins with --set.
 */
#include "driver/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int position_prefix(struct error *error, const char *file, struct position position)
{
    const char *name = position.file ? position.file : file;
    struct error fault = *error;

    if (position.line > 0)
        return error_prefix(error, "%s:%d:%d", name, position.line, position.column);
    if (position.column > 0)
        return error_set(error, fault.status, "--set %s", fault.text);
    return error_prefix(error, "%s:1:1", name);
}

int position_error(struct error *error, const char *file, struct position position, const char *format, ...)
{
    char text[sizeof(error->text)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    error_set(error, ERROR_INPUT, "%s", text);
    return position_prefix(error, file, position);
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
