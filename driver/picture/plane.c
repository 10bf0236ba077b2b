/* Which dimensions of a shape are the axes of a picture, and which have a panel for each of their values. */
#include "driver/picture/inside.h"
#include "driver/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is it the axis of repeats? Runs that differ in the seed alone are averaged. */
static bool is_repeat(const struct dimension *dimension)
{
    return strcmp(dimension->name, "seed") == 0;
}

static int find_open(const struct shape *shape, const char *name)
{
    int found = shape_find(shape, name);

    return found >= 0 && dimension_is_open(&shape->dimension[found]) ? found : PLANE_NONE;
}

/* The first open dimension other than `taken` and the seed, or PLANE_NONE. */
static int next_open(const struct shape *shape, int taken)
{
    for (int i = 0; i < shape->count; i++)
        if (i != taken && dimension_is_open(&shape->dimension[i]) && !is_repeat(&shape->dimension[i]))
            return i;
    return PLANE_NONE;
}

static void choose_axes(struct plane *plane)
{
    plane->x.dimension = find_open(plane->shape, "learning_rate");
    plane->y.dimension = find_open(plane->shape, "weight_decay");
    if (plane->x.dimension < 0)
        plane->x.dimension = next_open(plane->shape, plane->y.dimension);
    if (plane->y.dimension < 0)
        plane->y.dimension = next_open(plane->shape, plane->x.dimension);
    if (plane->x.dimension < 0 && plane->y.dimension < 0)
        plane->x.dimension = find_open(plane->shape, "seed");
}

struct ranked_axis {
    double number;
    int64_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked_axis *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Sets places and labels; numbers are drawn in ascending order. */
static void rank(struct side *side, const struct dimension *dimension)
{
    struct ranked_axis *ranked = memory_new((size_t)side->length, sizeof(*ranked));
    int digits = dimension_digits(dimension);

    for (int64_t i = 0; i < side->length; i++)
        ranked[i] = (struct ranked_axis){dimension->number ? dimension->number[i] : 0, i};
    qsort(ranked, (size_t)side->length, sizeof(*ranked), compare_ranked);
    for (int64_t i = 0; i < side->length; i++) {
        side->place[ranked[i].index] = i;
        dimension_label(dimension, ranked[i].index, digits, side->label[i]);
    }
    free(ranked);
}

static void side_init(struct side *side, const struct shape *shape)
{
    const struct dimension *dimension = side->dimension < 0 ? NULL : &shape->dimension[side->dimension];

    side->name = dimension ? dimension->name : NULL;
    side->length = dimension ? dimension->length : 1;
    side->place = memory_zero((size_t)side->length, sizeof(*side->place));
    side->label = memory_zero((size_t)side->length, sizeof(*side->label));
    if (dimension)
        rank(side, dimension);
}

static bool is_axis(const struct view *view, const char *name)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        if (strcmp(view->axis[i].name, name) == 0)
            return true;
    return false;
}

static void choose_panels(struct plane *plane, const struct view *view)
{
    plane->combinations = 1;
    for (int i = 0; i < plane->shape->count; i++) {
        const struct dimension *dimension = &plane->shape->dimension[i];
        plane->paneled[i] = view && i != plane->x.dimension && i != plane->y.dimension &&
                            dimension_is_open(dimension) && !is_repeat(dimension) &&
                            is_axis(view, dimension->name);
        plane->combinations *= plane->paneled[i] ? dimension->length : 1;
    }
    plane->panels = plane->combinations < PANELS_MOST ? (int)plane->combinations : PANELS_MOST;
    for (int i = 0; i < plane->panels; i++)
        plane->shown[i] = plane_pick(i, plane->panels, plane->combinations);
}

void plane_init(struct plane *plane, const struct shape *shape, const struct view *view, int x, int y)
{
    *plane = (struct plane){.shape = shape, .x.dimension = x, .y.dimension = y};
    if (x == PLANE_CHOOSE)
        choose_axes(plane);
    choose_panels(plane, view);
    side_init(&plane->x, shape);
    side_init(&plane->y, shape);
}

static void side_release(struct side *side)
{
    free(side->place);
    free(side->label);
    *side = (struct side){.dimension = PLANE_NONE};
}

void plane_release(struct plane *plane)
{
    side_release(&plane->x);
    side_release(&plane->y);
}

int64_t plane_cells(const struct plane *plane)
{
    return plane->panels * plane->y.length * plane->x.length;
}

int64_t plane_cell(const struct plane *plane, int64_t index)
{
    int64_t x = 0, y = 0, combination = 0, stride = 1;
    int panel = 0;

    for (int i = plane->shape->count - 1; i >= 0; i--) {
        const struct dimension *dimension = &plane->shape->dimension[i];
        int64_t at = index % dimension->length;
        index /= dimension->length;
        if (dimension->fixed >= 0 && at != dimension->fixed)
            return -1;
        if (i == plane->x.dimension)
            x = plane->x.place[at];
        if (i == plane->y.dimension)
            y = plane->y.place[at];
        if (plane->paneled[i]) {
            combination += at * stride;
            stride *= dimension->length;
        }
    }
    while (panel < plane->panels && plane->shown[panel] != combination)
        panel++;
    return panel < plane->panels ? (panel * plane->y.length + y) * plane->x.length + x : -1;
}

int plane_hidden_step(const struct plane *plane)
{
    int step = shape_find(plane->shape, metric_dimension_table[DIMENSION_STEP].name);
    bool drawn = step == plane->x.dimension || step == plane->y.dimension;

    return step >= 0 && !drawn && dimension_is_open(&plane->shape->dimension[step]) ? step : -1;
}

/* ---- texts ---- */

/* Adds ", seed", or ", seed=0" for the value at an index, from 0. */
static void add(struct string *text, const struct dimension *dimension, int64_t index)
{
    char label[DIMENSION_LABEL] = "";

    if (index >= 0)
        dimension_label(dimension, index, dimension_digits(dimension), label);
    string_format(text, "%s%s%s%s", text->length ? ", " : "", dimension->name, index >= 0 ? "=" : "", label);
}

char *plane_averaged(const struct plane *plane)
{
    struct string text = {0};

    for (int i = 0; i < plane->shape->count; i++)
        if (dimension_is_open(&plane->shape->dimension[i]) && i != plane->x.dimension &&
            i != plane->y.dimension && i != plane_hidden_step(plane) && !plane->paneled[i])
            add(&text, &plane->shape->dimension[i], -1);
    return string_take(&text);
}

char *plane_fixed(const struct shape *shape)
{
    struct string text = {0};

    for (int i = 0; i < shape->count; i++)
        if (shape->dimension[i].fixed >= 0)
            add(&text, &shape->dimension[i], shape->dimension[i].fixed);
    return string_take(&text);
}

char *plane_panel(const struct plane *plane, int panel)
{
    int64_t rest = plane->shown[panel], inner = plane->combinations;
    struct string text = {0};

    for (int i = 0; i < plane->shape->count; i++)
        if (plane->paneled[i]) {
            inner /= plane->shape->dimension[i].length;
            add(&text, &plane->shape->dimension[i], rest / inner);
            rest %= inner;
        }
    return string_take(&text);
}

void plane_print_rest(const struct plane *plane, FILE *out, int columns)
{
    struct string names = {0};

    for (int i = 0; i < plane->shape->count; i++)
        if (plane->paneled[i])
            add(&names, &plane->shape->dimension[i], -1);
    if (plane->panels < plane->combinations)
        lines_print(out, columns, "%d of %lld combinations of %s; --at chooses others", plane->panels,
            (long long)plane->combinations, string_text(&names));
    string_release(&names);
}
