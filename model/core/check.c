#include "model/core/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
