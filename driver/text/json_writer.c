/* JSON, value by value, as the writer keeps nothing but whether a comma is due. */
#include "driver/text/text.h"
#include "model/core/printable.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Writes one character of `length` bytes, or 0 for a byte that is not UTF-8. What is not printable is
 * escaped, as \u202e: a JSON text with it is the same, and may be shown on a terminal. */
static void put_character(FILE *out, const char *text, size_t length)
{
    unsigned char first = (unsigned char)*text;
    char escape[sizeof("\\u202e")];

    if (length == 0)
        fputs("\xef\xbf\xbd", out);
    else if (first == '"' || first == '\\')
        fprintf(out, "\\%c", first);
    else if (first < 0x20 || first == 0x7f)
        fprintf(out, "\\u%04x", first);
    else if (printable_length(text) == 0)
        fputs(printable(text, escape, sizeof(escape)), out);
    else
        fwrite(text, 1, length, out);
}

static void put_quoted(FILE *out, const char *text)
{
    size_t left = strlen(text);

    fputc('"', out);
    while (left > 0) {
        size_t length = utf8_length(text, left), step = length ? length : 1;
        put_character(out, text, length);
        text += step;
        left -= step;
    }
    fputc('"', out);
}

char *json_time(char text[JSON_TIME])
{
    struct timespec now;
    struct tm date;

    clock_gettime(CLOCK_REALTIME, &now);
    size_t length = strftime(text, JSON_TIME, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &date));
    snprintf(text + length, JSON_TIME - length, ".%03ldZ", now.tv_nsec / 1000000);
    return text;
}

/* Writes what comes before a value. */
static void put_name(struct json_writer *writer, const char *name)
{
    if (writer->comma)
        fputs(", ", writer->out);
    writer->comma = true;
    if (!name)
        return;
    put_quoted(writer->out, name);
    fputs(": ", writer->out);
}

void json_writer_open(struct json_writer *writer, const char *name, char bracket)
{
    put_name(writer, name);
    fputc(bracket, writer->out);
    writer->comma = false;
}

void json_writer_close(struct json_writer *writer, char bracket)
{
    fputc(bracket, writer->out);
    writer->comma = true;
}

void json_writer_text(struct json_writer *writer, const char *name, const char *text)
{
    if (!text) {
        json_writer_null(writer, name);
        return;
    }
    put_name(writer, name);
    put_quoted(writer->out, text);
}

void json_writer_whole(struct json_writer *writer, const char *name, int64_t value)
{
    put_name(writer, name);
    fprintf(writer->out, "%" PRId64, value);
}

void json_writer_real(struct json_writer *writer, const char *name, double value)
{
    char text[40];

    if (!isfinite(value)) {
        json_writer_null(writer, name);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put_name(writer, name);
    fprintf(writer->out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void json_writer_truth(struct json_writer *writer, const char *name, bool value)
{
    put_name(writer, name);
    fputs(value ? "true" : "false", writer->out);
}

void json_writer_null(struct json_writer *writer, const char *name)
{
    put_name(writer, name);
    fputs("null", writer->out);
}
