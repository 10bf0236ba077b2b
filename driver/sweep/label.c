#include "driver/sweep/label.h"

#include "driver/text/lines.h"
#include "driver/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "10"; param_format, which digests are made from, writes 1e+01. */
static char *label_real(double value, char *text, size_t size)
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
    snprintf(text, size, "%s", axis->label[index]);
    return lines_clean(label_cut(text));
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

/* An axis of one value does not distinguish runs: short labels leave it out. */
static bool is_named(const struct axis *axis, enum naming naming)
{
    return naming == NAMING_WHOLE || axis->length > 1;
}

/* Short labels have four digits of a number, usually enough to distinguish the values of an axis. */
static void put_value(const struct axis *axis, int64_t index, enum naming naming, char text[LABEL_SIZE])
{
    if (naming != NAMING_WHOLE && !axis->label && axis->param[0]->kind == PARAM_REAL)
        snprintf(text, LABEL_SIZE, "%.4g", axis->value[index].real);
    else
        label_axis_value(axis, index, text, LABEL_SIZE);
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
        if (!is_named(&axis[i], naming))
            continue;
        put_name(axis[i].name, naming, name);
        put_value(&axis[i], cell / inner % axis[i].length, naming, value);
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
