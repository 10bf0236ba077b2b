/*
 * Memory that is always there, and texts that grow in it.
 *
 * The program ends in one place if memory runs out, memory_end, so that the rooms that read sweep files, draw
 * and print have no path for it. What the rooms around files do in that case is tested by letting malloc and
 * its like fail; the calls here are reallocarray and vsnprintf, which those tests leave alone.
 */
#include "driver/text/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void memory_end(void)
{
    fputs("normsweep: no memory\n", stderr);
    exit(STATUS_ENVIRONMENT);
}

void *memory_grow(void *memory, size_t count, size_t size)
{
    void *grown = reallocarray(memory, count ? count : 1, size);

    if (!grown)
        memory_end();
    return grown;
}

void *memory_new(size_t count, size_t size)
{
    return memory_grow(NULL, count, size);
}

void *memory_zero(size_t count, size_t size)
{
    return memset(memory_new(count, size), 0, count * size);
}

char *memory_copy_part(const char *text, size_t length)
{
    char *copy = memory_new(length + 1, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *memory_copy(const char *text)
{
    return memory_copy_part(text, strlen(text));
}

struct sorting {
    int (*compare)(const void *context, int64_t a, int64_t b);
    const void *context;
};

static int in_order(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    int result = sorting->compare(sorting->context, left, right);

    return result ? result : (left > right) - (left < right);
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

void numbers_sort(double *number, int64_t count)
{
    qsort(number, (size_t)count, sizeof(*number), ascending);
}

int64_t *memory_sorted(
    int64_t count, int (*compare)(const void *context, int64_t a, int64_t b), const void *context)
{
    struct sorting sorting = {compare, context};
    int64_t *sorted = memory_new((size_t)count, sizeof(*sorted));

    for (int64_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, (size_t)count, sizeof(*sorted), in_order, &sorting);
    return sorted;
}

/* Makes room for `more` bytes and a NUL. */
static void make_room(struct string *string, size_t more)
{
    if (string->room - string->length > more)
        return;
    string->room = 2 * string->length + more + 64;
    string->bytes = memory_grow(string->bytes, string->room, 1);
}

void string_add(struct string *string, const char *bytes, size_t length)
{
    make_room(string, length);
    memcpy(string->bytes + string->length, bytes, length);
    string->length += length;
    string->bytes[string->length] = '\0';
}

__attribute__((format(printf, 2, 0))) static void add_formatted(
    struct string *string, const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        memory_end();
    make_room(string, (size_t)length);
    vsnprintf(string->bytes + string->length, (size_t)length + 1, format, again);
    string->length += (size_t)length;
    va_end(again);
}

void string_format(struct string *string, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(string, format, arguments);
    va_end(arguments);
}

char *memory_vformat(const char *format, va_list arguments)
{
    struct string string = {0};

    add_formatted(&string, format, arguments);
    return string.bytes;
}

char *memory_format(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
    return text;
}

const char *string_text(const struct string *string)
{
    return string->bytes ? string->bytes : "";
}

char *string_take(struct string *string)
{
    char *text = string->bytes ? string->bytes : memory_copy("");

    *string = (struct string){0};
    return text;
}

void string_release(struct string *string)
{
    free(string->bytes);
    *string = (struct string){0};
}

FILE *memory_stream(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);

    if (!stream)
        memory_end();
    return stream;
}

void memory_stream_close(FILE *stream, char *const *text)
{
    int failed = ferror(stream);

    if (fclose(stream) != 0 || failed || !*text) /* without memory fclose may succeed all the same */
        memory_end();
}
