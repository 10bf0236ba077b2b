#include "model/core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, enum error_status status, const char *format, ...)
{
    va_list arguments;

    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return -1;
}

int error_prefix(struct error *error, const char *format, ...)
{
    char text[sizeof(error->text)];
    va_list arguments;

    memcpy(text, error->text, sizeof(text));
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(error->text))
        return -1;
    int left = (int)sizeof(error->text) - length;
    snprintf(error->text + length, (size_t)left, ": %.*s", left, text); /* truncation is intended */
    return -1;
}
