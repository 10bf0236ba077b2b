/*
 * The two ways to fail. error_set makes the line of an error where it is detected, and returns -1, which its
 * caller passes on; a caller that knows more puts that in front with error_prefix. What the line quotes
 * becomes printable here, once. check_failed is the end of a false INVARIANT (check.h): the line of a defect,
 * then abort. Neither can fail itself: a text that is too long is cut.
 */
#include "model/core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/core/check.h"
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

/* One call that prints, so that lines of several processes do not mix. */
void check_failed(const char *file, int line, const char *condition, const char *format, ...)
{
    char values[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(values, sizeof(values), format, arguments);
    va_end(arguments);
    fprintf(stderr, "normsweep: %s:%d: %s (%s)\n", file, line, condition, values);
    abort();
}
