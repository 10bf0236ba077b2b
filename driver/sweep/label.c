/*
 * Names of cells and of values along axes: for people, in the columns that there are. A number has as many
 * digits as tell it from its neighbours on the axis.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/printable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Significant digits: of short labels at least, of any number at most, of values that a list makes; and the
 * longest axis whose labels are made short. */
enum { DIGITS_LEAST = 3, DIGITS_MOST = 15, DIGITS_WRITTEN = 12, DIGITS_COUNTED = 10000 };

char *label_cut(char *text)
{
    size_t length = strlen(text), first = length;

    while (first > 0 && ((unsigned char)text[first - 1] & 0xc0) == 0x80)
        first--;
    if (first > 0 && utf8_length(text + first - 1, length - (first - 1)) == 0)
        text[first - 1] = '\0';
    return text;
}

char *label_shorten(char *text, int columns)
{
    if (lines_width(text) <= columns)
        return text;
    if (columns > 0)
        strcpy(text + lines_fit(text, columns - 1), "~");
    else
        text[0] = '\0';
    return text;
}

char *label_real(double value, char *text, size_t size)
{
    snprintf(text, size, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, size, "%.17g", value);
    return text;
}

char *label_axis_value(const struct axis *axis, int64_t index, char *text, size_t size)
{
    if (!axis->label && axis->param[0]->kind == PARAM_REAL)
        return label_real(axis->value[index].real, text, size);
    if (!axis->label)
        return param_format(axis->param[0], axis->value[index], text, size);
    return printable(axis->label[index], text, size);
}

/* "lr" for "learning_rate"; a name of one word stays, since a single letter explains nothing. */
static void put_name(const char *name, enum naming naming, char text[LABEL_SIZE])
{
    size_t length = 0;

    if (naming == NAMING_WHOLE || !strchr(name, '_')) {
        snprintf(text, LABEL_SIZE, "%s", naming == NAMING_NONE ? "" : name);
        return;
    }
    for (const char *at = name; naming == NAMING_INITIALS && *at && length < LABEL_SIZE - 1; at++)
        if (at == name || at[-1] == '_')
            text[length++] = *at;
    text[length] = '\0';
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

char *label_number(double value, int digits, char *text, size_t size)
{
    snprintf(text, size, "%.*g", value == floor(value) ? DIGITS_MOST : digits, value);
    return text;
}

/* Do all sorted numbers differ from their neighbours when written with this many digits? */
static bool all_differ(const double *number, int64_t length, int digits)
{
    char here[32], last[32] = "";

    for (int64_t i = 0; i < length; i++) {
        label_number(number[i], digits, here, sizeof(here));
        if (strcmp(here, last) == 0)
            return false;
        memcpy(last, here, sizeof(last));
    }
    return true;
}

int label_digits(const double *number, int64_t length)
{
    int digits = DIGITS_LEAST;

    if (length > DIGITS_COUNTED)
        return DIGITS_WRITTEN;
    double *sorted = memory_new((size_t)length, sizeof(*sorted));
    memcpy(sorted, number, (size_t)length * sizeof(*sorted));
    qsort(sorted, (size_t)length, sizeof(*sorted), compare_numbers);
    while (digits < DIGITS_MOST && !all_differ(sorted, length, digits))
        digits++;
    free(sorted);
    return digits;
}

/* As pictures write it, and as --at takes it. */
static void put_value(const struct axis *axis, int64_t index, char text[LABEL_SIZE])
{
    if (axis->label || axis->param[0]->kind != PARAM_REAL) {
        label_axis_value(axis, index, text, LABEL_SIZE);
        return;
    }
    double *number = memory_new((size_t)axis->length, sizeof(*number));
    for (int64_t i = 0; i < axis->length; i++)
        number[i] = axis->value[i].real;
    label_number(number[index], label_digits(number, axis->length), text, LABEL_SIZE);
    free(number);
}

char *label_named(
    int64_t axis_count, const struct axis *axis, int64_t cell, enum naming naming, char text[LABEL_SIZE])
{
    int64_t inner = 1;
    size_t length = 0;
    char name[LABEL_SIZE], value[LABEL_SIZE];

    for (int64_t i = 0; i < axis_count; i++)
        inner *= axis[i].length;
    text[0] = '\0';
    for (int64_t i = 0; i < axis_count && length < LABEL_SIZE - 1; i++) {
        inner /= axis[i].length;
        if (naming != NAMING_WHOLE && axis[i].length == 1)
            continue; /* an axis of one value does not distinguish runs: short labels leave it out */
        put_name(axis[i].name, naming, name);
        put_value(&axis[i], cell / inner % axis[i].length, value);
        int written = snprintf(text + length, LABEL_SIZE - length, "%s%s%s%s", length ? " " : "", name,
            name[0] ? "=" : "", value);
        length += written > 0 ? (size_t)written : 0;
    }
    if (!text[0])
        snprintf(text, LABEL_SIZE, "the run");
    return label_cut(text);
}

char *label_fit(int64_t axis_count, const struct axis *axis, int64_t cell, int columns, char text[LABEL_SIZE])
{
    for (enum naming naming = NAMING_WHOLE; naming < NAMING_COUNT; naming++) {
        label_named(axis_count, axis, cell, naming, text);
        if (lines_width(text) <= columns)
            return text;
    }
    return label_shorten(text, columns);
}

char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE])
{
    return label_named(sweep->axis_count, sweep->axis, cell, NAMING_WHOLE, text);
}

/* ---- as JSON ---- */

static void put_json(struct json_writer *writer, const struct axis *axis, int64_t index)
{
    if (axis->label) {
        json_writer_text(writer, axis->name, axis->label[index]);
        return;
    }
    const struct param *param = axis->param[0];
    union param_value value = axis->value[index];
    switch (param->kind) {
    case PARAM_REAL:
        json_writer_real(writer, axis->name, value.real);
        break;
    case PARAM_INTEGER:
        json_writer_whole(writer, axis->name, value.integer);
        break;
    case PARAM_BOOLEAN:
        json_writer_truth(writer, axis->name, value.integer != 0);
        break;
    case PARAM_WORD:
        json_writer_text(writer, axis->name, param->words[value.integer]);
        break;
    }
}

void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell)
{
    int64_t inner = 1;

    for (int64_t i = 0; i < axis_count; i++)
        inner *= axis[i].length;
    json_writer_whole(writer, "cell", cell);
    json_writer_open(writer, "axes", '{');
    for (int64_t i = 0; i < axis_count; i++) {
        inner /= axis[i].length;
        put_json(writer, &axis[i], cell / inner % axis[i].length);
    }
    json_writer_close(writer, '}');
}
