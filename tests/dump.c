#include "tests/dump.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void write_reals(const char *name, const double *values, int64_t count)
{
    printf("%s f8 %lld\n", name, (long long)count);
    if (fwrite(values, sizeof(*values), (size_t)count, stdout) != (size_t)count)
        fail("cannot write");
}

void write_scalars(const char *name, const scalar *values, int64_t count)
{
    printf("%s f8 %lld\n", name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)values[i];
        if (fwrite(&value, sizeof(value), 1, stdout) != 1)
            fail("cannot write");
    }
}

void write_integers(const char *name, const int64_t *values, int64_t count)
{
    printf("%s i8 %lld\n", name, (long long)count);
    if (fwrite(values, sizeof(*values), (size_t)count, stdout) != (size_t)count)
        fail("cannot write");
}

void write_tokens(const char *name, const int32_t *values, int64_t count)
{
    printf("%s i8 %lld\n", name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = values[i];
        if (fwrite(&value, sizeof(value), 1, stdout) != 1)
            fail("cannot write");
    }
}

void write_real(const char *name, double value)
{
    write_reals(name, &value, 1);
}

void write_integer(const char *name, int64_t value)
{
    write_integers(name, &value, 1);
}

void write_batch(const char *prefix, const struct batch *batch)
{
    char name[64];
#define NAME(suffix) (snprintf(name, sizeof(name), "%s%s", prefix, suffix), name)

    write_integers(NAME("start"), batch->start, batch->sequences + 1);
    write_tokens(NAME("tokens"), batch->tokens, batch->rows);
    write_tokens(NAME("target"), batch->target, batch->rows);
    if (!batch->source_start)
        return;
    write_integers(NAME("source_start"), batch->source_start, batch->sequences + 1);
    write_tokens(NAME("source_tokens"), batch->source_tokens, batch->source_rows);
}
