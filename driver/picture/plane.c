/*
 * The dimensions of what is drawn, with their values as people read them; which of them are the axes of a
 * picture, and which have a panel for each of their values. A picture makes a plane of a grid or a variable,
 * lets selection.c fix dimensions, chooses the axes, and asks in which cell each value belongs. Only reading
 * a coordinate may fail.
 */
#include "driver/picture/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 256 };

/* ---- dimensions ---- */

static void forget_values(struct dimension *dimension)
{
    for (int64_t i = 0; dimension->word && i < dimension->length; i++)
        free(dimension->word[i]);
    free(dimension->word);
    free(dimension->number);
    dimension->word = NULL;
    dimension->number = NULL;
}

static void take_axis(struct dimension *dimension, const struct axis *axis)
{
    size_t length = (size_t)axis->length;
    char text[WORD_SIZE];

    if (!axis->label && (axis->param[0]->kind == PARAM_REAL || axis->param[0]->kind == PARAM_INTEGER)) {
        bool real = axis->param[0]->kind == PARAM_REAL;
        dimension->number = memory_new(length, sizeof(*dimension->number));
        for (size_t i = 0; i < length; i++)
            dimension->number[i] = real ? axis->value[i].real : (double)axis->value[i].integer;
        dimension->digits = label_digits(dimension->number, dimension->length);
        return;
    }
    dimension->word = memory_zero(length, sizeof(*dimension->word));
    for (size_t i = 0; i < length; i++)
        dimension->word[i] = memory_copy(label_axis_value(axis, (int64_t)i, text, sizeof(text)));
}

/* Reads the values of a coordinate variable. A dimension is numbered if it has none, or one that is not of
 * the expected form: numbers that are not finite can neither be sorted nor drawn to scale. */
static int read_coordinate(struct dimension *dimension, const struct view *view, struct error *error)
{
    size_t length = (size_t)dimension->length;
    bool right = view_is_text(view, dimension->name);
    struct view_variable variable;

    if (view_find(view, dimension->name, &variable) && variable.size == dimension->length) {
        dimension->number = memory_new(length, sizeof(*dimension->number));
        if (view_read(view, &variable, dimension->number, error) != 0)
            return -1;
        right = true;
        for (size_t i = 0; i < length; i++)
            right = right && isfinite(dimension->number[i]);
    } else if (right) {
        dimension->word = memory_zero(length, sizeof(*dimension->word));
        for (size_t i = 0; right && i < length; i++) {
            int cause = 0;
            dimension->word[i] = view_string(view, dimension->name, (int64_t)i, &cause);
            if (cause)
                return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
            right = dimension->word[i];
        }
    }
    if (!right) {
        forget_values(dimension);
        dimension->number = memory_new(length, sizeof(*dimension->number));
        for (size_t i = 0; i < length; i++)
            dimension->number[i] = (double)i;
    }
    if (dimension->number)
        dimension->digits = label_digits(dimension->number, dimension->length);
    return 0;
}

static struct dimension *add_dimension(struct plane *plane, const char *name, int64_t length)
{
    struct dimension *dimension = &plane->dimension[plane->count++];

    *dimension = (struct dimension){.name = name, .length = length, .fixed = -1};
    plane->size *= length;
    return dimension;
}

void plane_of_axes(struct plane *plane, int64_t axis_count, const struct axis *axis)
{
    *plane = (struct plane){.size = 1};
    for (int64_t i = 0; i < axis_count && i < VIEW_DIMENSIONS_MAX; i++)
        take_axis(add_dimension(plane, axis[i].name, axis[i].length), &axis[i]);
}

int plane_of_variable(
    struct plane *plane, const struct view *view, const struct view_variable *variable, struct error *error)
{
    *plane = (struct plane){.size = 1};
    for (int i = 0; i < variable->dimension_count; i++) {
        int64_t axis = axis_named(view->axis_count, view->axis, variable->dimension[i]);
        struct dimension *dimension = add_dimension(plane, variable->dimension[i], variable->length[i]);
        if (axis >= 0) {
            take_axis(dimension, &view->axis[axis]);
        } else if (read_coordinate(dimension, view, error) != 0) {
            plane_release(plane);
            return -1;
        }
    }
    return 0;
}

void plane_release(struct plane *plane)
{
    for (int i = 0; i < plane->count; i++)
        forget_values(&plane->dimension[i]);
    free(plane->x.drawn);
    free(plane->x.label);
    free(plane->y.drawn);
    free(plane->y.label);
    *plane = (struct plane){0};
}

int plane_find(const struct plane *plane, const char *name)
{
    for (int i = 0; i < plane->count; i++)
        if (strcmp(plane->dimension[i].name, name) == 0)
            return i;
    return -1;
}

char *dimension_label(const struct dimension *dimension, int64_t index, char label[DIMENSION_LABEL])
{
    if (dimension->number)
        return label_number(dimension->number[index], dimension->digits, label, DIMENSION_LABEL);
    snprintf(label, DIMENSION_LABEL, "%.*s", DIMENSION_LABEL - 1, dimension->word[index]);
    return label_cut(label);
}

/* ---- axes and panels ---- */

/* Is more than one value of this dimension drawn? */
static bool is_open(const struct plane *plane, int i)
{
    return plane->dimension[i].length > 1 && plane->dimension[i].fixed < 0;
}

/* Is it the axis of repeats? Runs that differ in the seed alone are averaged. */
static bool is_repeat(const struct plane *plane, int i)
{
    return strcmp(plane->dimension[i].name, "seed") == 0;
}

static int find_open(const struct plane *plane, const char *name)
{
    int found = plane_find(plane, name);

    return found >= 0 && is_open(plane, found) ? found : PLANE_NONE;
}

/* The first open dimension other than `taken` and the seed, or PLANE_NONE. */
static int next_open(const struct plane *plane, int taken)
{
    for (int i = 0; i < plane->count; i++)
        if (i != taken && is_open(plane, i) && !is_repeat(plane, i))
            return i;
    return PLANE_NONE;
}

static int by_number(const void *context, int64_t a, int64_t b)
{
    const struct dimension *dimension = context;

    if (!dimension || !dimension->number)
        return 0;
    return (dimension->number[a] > dimension->number[b]) - (dimension->number[a] < dimension->number[b]);
}

/* Orders the values of an axis and labels them. */
static void lay_out(struct side *side, const struct plane *plane)
{
    const struct dimension *dimension = side->dimension < 0 ? NULL : &plane->dimension[side->dimension];

    side->name = dimension ? dimension->name : NULL;
    side->length = dimension ? dimension->length : 1;
    side->drawn = memory_zero((size_t)side->length, sizeof(*side->drawn));
    side->label = memory_zero((size_t)side->length, sizeof(*side->label));
    int64_t *order = memory_sorted(side->length, by_number, dimension);
    for (int64_t i = 0; dimension && i < side->length; i++) {
        side->drawn[order[i]] = i;
        dimension_label(dimension, order[i], side->label[i]);
    }
    free(order);
}

void plane_choose(struct plane *plane, const struct view *view, int x, int y)
{
    if (x == PLANE_CHOOSE) {
        x = find_open(plane, "learning_rate");
        y = find_open(plane, "weight_decay");
        y = y < 0 ? find_open(plane, "timescale") : y;
        x = x < 0 ? next_open(plane, y) : x;
        y = y < 0 ? next_open(plane, x) : y;
        x = x < 0 && y < 0 ? find_open(plane, "seed") : x;
    }
    plane->x.dimension = x;
    plane->y.dimension = y;
    plane->combinations = 1;
    for (int i = 0; i < plane->count; i++) {
        struct dimension *dimension = &plane->dimension[i];
        /* Forces cancel each other, so that their mean says nothing. */
        bool apart = view && (axis_named(view->axis_count, view->axis, dimension->name) >= 0 ||
                                 strcmp(dimension->name, metric_dimension_table[DIMENSION_FORCE].name) == 0);
        dimension->paneled = apart && i != x && i != y && is_open(plane, i) && !is_repeat(plane, i);
        plane->combinations *= dimension->paneled ? dimension->length : 1;
    }
    plane->panels = plane->combinations < PANELS_MOST ? (int)plane->combinations : PANELS_MOST;
    for (int i = 0; i < plane->panels; i++)
        plane->shown[i] = plane_pick(i, plane->panels, plane->combinations);
    lay_out(&plane->x, plane);
    lay_out(&plane->y, plane);
}

int64_t plane_cells(const struct plane *plane)
{
    return plane->panels * plane->y.length * plane->x.length;
}

int64_t plane_cell(const struct plane *plane, int64_t index)
{
    int64_t x = 0, y = 0, combination = 0, stride = 1;
    int panel = 0;

    for (int i = plane->count - 1; i >= 0; i--) {
        const struct dimension *dimension = &plane->dimension[i];
        int64_t at = index % dimension->length;
        index /= dimension->length;
        if (dimension->fixed >= 0 && at != dimension->fixed)
            return -1;
        if (i == plane->x.dimension)
            x = plane->x.drawn[at];
        if (i == plane->y.dimension)
            y = plane->y.drawn[at];
        if (dimension->paneled) {
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
    int step = find_open(plane, metric_dimension_table[DIMENSION_STEP].name);

    return step == plane->x.dimension || step == plane->y.dimension ? -1 : step;
}

static enum role role_of(const struct plane *plane, int i)
{
    if (plane->dimension[i].fixed >= 0)
        return ROLE_FIXED;
    if (plane->dimension[i].paneled)
        return ROLE_PANELED;
    bool axis = i == plane->x.dimension || i == plane->y.dimension || i == plane_hidden_step(plane);
    return axis || !is_open(plane, i) ? ROLE_OTHER : ROLE_AVERAGED;
}

char *plane_names(const struct plane *plane, enum role role, int panel)
{
    int64_t rest = panel < 0 ? 0 : plane->shown[panel], inner = plane->combinations;
    struct string text = {0};

    for (int i = 0; i < plane->count; i++) {
        const struct dimension *dimension = &plane->dimension[i];
        int64_t index = dimension->fixed;
        char label[DIMENSION_LABEL] = "";
        if (role_of(plane, i) != role)
            continue;
        if (role == ROLE_PANELED && panel >= 0) {
            inner /= dimension->length;
            index = rest / inner;
            rest %= inner;
        }
        if (index >= 0)
            dimension_label(dimension, index, label);
        string_format(
            &text, "%s%s%s%s", text.length ? ", " : "", dimension->name, index >= 0 ? "=" : "", label);
    }
    return string_take(&text);
}
