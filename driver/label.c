#include "driver/label.h"

#include "driver/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *label_cut(char *text)
{
    size_t length = strlen(text), first = length;

    while (first > 0 && ((unsigned char)text[first - 1] & 0xc0) == 0x80)
        first--;
    if (first == 0)
        return text;
    unsigned char lead = (unsigned char)text[--first];
    size_t whole = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (first + whole > length)
        text[first] = '\0';
    return text;
}

char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE])
{
    int64_t *index = malloc((size_t)(sweep->axis_count + 1) * sizeof(*index));
    size_t length = 0;
    char value[LABEL_SIZE];

    snprintf(text, LABEL_SIZE, "%s", sweep->axis_count ? "" : "the run");
    if (!index)
        return text;
    sweep_indices(sweep, cell, index);
    for (int64_t i = 0; i < sweep->axis_count && length < LABEL_SIZE - 1; i++) {
        view_label(&sweep->axis[i], index[i], value, sizeof(value));
        int written =
            snprintf(text + length, LABEL_SIZE - length, "%s%s=%s", i ? " " : "", sweep->axis[i].name, value);
        length += written > 0 ? (size_t)written : 0;
    }
    free(index);
    return label_cut(text);
}
