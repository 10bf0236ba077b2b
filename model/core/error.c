#include "model/core/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "model/core/printable.h"

int error_set(struct error *error, enum error_status status, const char *format, ...)
{
    char text[sizeof(error->text)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    error->status = status;
    printable(text, error->text, sizeof(error->text));
    return -1;
}

int error_prefix(struct error *error, const char *format, ...)
{
    char prefix[sizeof(error->text)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(prefix, sizeof(prefix), format, arguments);
    va_end(arguments);
    struct error whole = *error;
    return error_set(error, whole.status, "%s: %s", prefix, whole.text);
}
