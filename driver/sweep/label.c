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

char *label_number(double value, int digits, char *text, size_t size)
{
    snprintf(text, size, "%.*g", value == floor(value) ? DIGITS_MOST : digits, value);
    return text;
}

int label_digits(const double *number, int64_t length)
{
    int digits = DIGITS_LEAST;
    char here[32], last[32];

    if (length > DIGITS_COUNTED)
        return DIGITS_WRITTEN;
    double *sorted = memory_new((size_t)length, sizeof(*sorted));
    memcpy(sorted, number, (size_t)length * sizeof(*sorted));
    numbers_sort(sorted, length);
    for (int64_t i = 1; i < length && digits < DIGITS_MOST;) {
        label_number(sorted[i - 1], digits, last, sizeof(last));
        label_number(sorted[i], digits, here, sizeof(here));
        bool same = strcmp(here, last) == 0;
        digits += same;
        i = same ? 1 : i + 1; /* with one more digit others may be rounded to the same number */
    }
    free(sorted);
    return digits;
}

/* As pictures write it, and as --at takes it. Returns text. */
static char *short_value(const struct axis *axis, int64_t index, char text[LABEL_SIZE])
{
    if (axis->label || axis->param[0]->kind != PARAM_REAL)
        return label_axis_value(axis, index, text, LABEL_SIZE);
    double *number = memory_new((size_t)axis->length, sizeof(*number));
    for (int64_t i = 0; i < axis->length; i++)
        number[i] = axis->value[i].real;
    label_number(number[index], label_digits(number, axis->length), text, LABEL_SIZE);
    free(number);
    return text;
}

char *label_named(
    int64_t axis_count, const struct axis *axis, int64_t cell, enum naming naming, char text[LABEL_SIZE])
{
    struct string label = {0};
    char value[LABEL_SIZE];

    for (int64_t i = 0; i < axis_count && label.length < LABEL_SIZE - 1; i++) {
        const char *name = axis[i].name;
        if (naming != NAMING_WHOLE && axis[i].length == 1)
            continue; /* an axis of one value does not distinguish runs: short labels leave it out */
        string_format(&label, "%s", label.length ? " " : "");
        if (naming == NAMING_WHOLE || !strchr(name, '_')) /* a single letter would explain nothing */
            string_format(&label, "%s", naming == NAMING_NONE ? "" : name);
        else /* "lr" for "learning_rate" */
            for (const char *at = name; naming == NAMING_INITIALS && *at; at++)
                string_add(&label, at, at == name || at[-1] == '_');
        string_format(&label, "%s%s", naming == NAMING_NONE ? "" : "=",
            short_value(&axis[i], axis_index(axis_count, axis, i, cell), value));
    }
    snprintf(text, LABEL_SIZE, "%s", label.length ? string_text(&label) : "the run");
    string_release(&label);
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

void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell)
{
    char text[PARAM_TEXT];

    json_writer_whole(writer, "cell", cell);
    json_writer_open(writer, "axes", '{');
    for (int64_t i = 0; i < axis_count; i++) {
        int64_t index = axis_index(axis_count, axis, i, cell);
        if (axis[i].label) {
            json_writer_text(writer, axis[i].name, axis[i].label[index]);
            continue;
        }
        const struct param *param = axis[i].param[0];
        union param_value value = axis[i].value[index];
        if (param->kind == PARAM_REAL)
            json_writer_real(writer, axis[i].name, value.real);
        else if (param->kind == PARAM_INTEGER)
            json_writer_whole(writer, axis[i].name, value.integer);
        else if (param->kind == PARAM_BOOLEAN)
            json_writer_truth(writer, axis[i].name, value.integer != 0);
        else
            json_writer_text(writer, axis[i].name, param_format(param, value, text, sizeof(text)));
    }
    json_writer_close(writer, '}');
}
