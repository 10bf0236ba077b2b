#include "driver/picture/panels.h"

#include "driver/text/lines.h"

#include <stdio.h>
#include <string.h>

static bool is_axis(const struct view *view, const char *name)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        if (strcmp(view->axis[i].name, name) == 0)
            return true;
    return false;
}

void panels_init(
    struct panels *panels, struct shape *shape, const struct plane *plane, const struct view *view)
{
    *panels = (struct panels){.shape = shape, .combinations = 1};
    for (int i = 0; i < shape->count; i++) {
        const struct dimension *dimension = &shape->dimension[i];
        bool drawn = i == plane->x.dimension || i == plane->y.dimension;
        if (drawn || !dimension_is_open(dimension) || dimension_is_repeat(dimension) ||
            !is_axis(view, dimension->name))
            continue;
        panels->dimension[panels->dimensions++] = i;
        panels->combinations *= dimension->length;
    }
    panels->count = panels->combinations < PANELS_MOST ? (int)panels->combinations : PANELS_MOST;
}

void panels_fix(const struct panels *panels, int i)
{
    int64_t combination = plot_pick(i, panels->count, panels->combinations);

    for (int j = panels->dimensions - 1; j >= 0; j--) {
        struct dimension *dimension = &panels->shape->dimension[panels->dimension[j]];
        dimension->fixed = combination % dimension->length;
        combination /= dimension->length;
    }
}

void panels_open(const struct panels *panels)
{
    for (int j = 0; j < panels->dimensions; j++)
        panels->shape->dimension[panels->dimension[j]].fixed = -1;
}

void panels_print_title(const struct panels *panels, int i, FILE *out, int columns)
{
    char text[PLANE_NAMES] = "", label[DIMENSION_LABEL];

    panels_fix(panels, i);
    for (int j = 0; j < panels->dimensions; j++) {
        const struct dimension *dimension = &panels->shape->dimension[panels->dimension[j]];
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s=%s", used ? ", " : "", dimension->name,
            dimension_label(dimension, dimension->fixed, dimension_digits(dimension), label));
    }
    if (text[0])
        lines_print(out, columns, "%s", text);
}

void panels_print_rest(const struct panels *panels, FILE *out, int columns)
{
    char names[PLANE_NAMES] = "";

    if (panels->count == panels->combinations)
        return;
    for (int j = 0; j < panels->dimensions; j++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
            panels->shape->dimension[panels->dimension[j]].name);
    }
    lines_print(out, columns, "%d of %lld combinations of %s; --at chooses others", panels->count,
        (long long)panels->combinations, names);
}
