#include "driver/plane.h"

#include "driver/dataset_tables.h"
#include "driver/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct axis *grid_axis(const struct view *view, const char *name)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        if (strcmp(view->axis[i].name, name) == 0)
            return &view->axis[i];
    return NULL;
}

/* The dimension of that name with more than one value, or -1. */
static int find_dimension(const struct view_variable *variable, const char *name)
{
    for (int i = 0; i < variable->dimension_count; i++)
        if (variable->length[i] > 1 && strcmp(variable->dimension[i], name) == 0)
            return i;
    return -1;
}

/* The first dimension with more than one value but `taken`, or -1. */
static int next_dimension(const struct view_variable *variable, int taken)
{
    for (int i = 0; i < variable->dimension_count; i++)
        if (variable->length[i] > 1 && i != taken)
            return i;
    return -1;
}

static void choose(struct plane *plane)
{
    const struct view_variable *variable = &plane->variable;

    plane->x.dimension = find_dimension(variable, "learning_rate");
    plane->y.dimension = find_dimension(variable, "weight_decay");
    if (plane->x.dimension < 0)
        plane->x.dimension = next_dimension(variable, plane->y.dimension);
    if (plane->y.dimension < 0)
        plane->y.dimension = next_dimension(variable, plane->x.dimension);
}

/* The number by which an axis is ordered; its labels have none. */
static double axis_number(const struct axis *axis, int64_t index)
{
    bool ordered = !axis->label && axis->param[0]->kind != PARAM_WORD;

    if (!ordered)
        return 0;
    return axis->param[0]->kind == PARAM_REAL ? axis->value[index].real : (double)axis->value[index].integer;
}

struct ranked {
    double number;
    int64_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The indices along a dimension in the order in which they are drawn. */
static void rank_side(const struct side *side, const struct axis *axis, struct ranked *ranked)
{
    for (int64_t i = 0; i < side->length; i++)
        ranked[i] = (struct ranked){axis ? axis_number(axis, i) : 0, i};
    qsort(ranked, (size_t)side->length, sizeof(*ranked), compare_ranked);
}

/* A label that is short: three digits are enough to find a value by eye. */
static void label_value(const struct axis *axis, int64_t index, char label[PLOT_LABEL])
{
    char text[64];

    if (!axis->label && axis->param[0]->kind == PARAM_REAL) {
        snprintf(label, PLOT_LABEL, "%.3g", axis->value[index].real);
        return;
    }
    view_label(axis, index, text, sizeof(text));
    snprintf(label, PLOT_LABEL, "%.*s", PLOT_LABEL - 1, text);
    label_cut(label);
}

/* A number of a metric's own dimension: a step is whole, however large, and a scale is not. */
static void label_number(double number, char label[PLOT_LABEL])
{
    snprintf(label, PLOT_LABEL, "%.*g", number == floor(number) ? 15 : 3, number);
}

/* What stands in the file along a dimension that is no axis, in numbers [length], the caller's to free; NULL
 * where that is nothing, or words. */
static double *read_coordinate(const struct view *view, const char *name, int64_t length)
{
    struct view_variable variable;
    struct error error;

    if (!view_find(view, name, &variable) || variable.size != length)
        return NULL;
    double *number = malloc((size_t)length * sizeof(*number));
    if (number && view_read(view, &variable, number, &error) != 0) {
        free(number);
        return NULL;
    }
    return number;
}

/* Names of tensors; where nothing stands along the dimension, places. */
static void label_place(const struct view *view, const char *name, int64_t index, char label[PLOT_LABEL])
{
    char *text = strcmp(name, metric_dimension_table[DIMENSION_TENSOR].name) == 0
                     ? view_string(view, name, index)
                     : NULL;

    if (text)
        snprintf(label, PLOT_LABEL, "%.*s", PLOT_LABEL - 1, text);
    else
        label_number((double)index, label);
    free(text);
}

static void label_side(const struct side *side, const struct view *view, const struct ranked *ranked)
{
    const char *name = side->axis.name;
    const struct axis *axis = name ? grid_axis(view, name) : NULL;
    double *number = name && !axis ? read_coordinate(view, name, side->length) : NULL;

    for (int64_t i = 0; name && i < side->length; i++) {
        int64_t index = ranked[i].index;
        if (axis)
            label_value(axis, index, side->axis.label[i]);
        else if (number)
            label_number(number[index], side->axis.label[i]);
        else
            label_place(view, name, index, side->axis.label[i]);
    }
    free(number);
}

static int side_init(struct side *side, const struct view *view, const struct view_variable *variable)
{
    const char *name = side->dimension < 0 ? NULL : variable->dimension[side->dimension];
    size_t length = name ? (size_t)variable->length[side->dimension] : 1;
    struct ranked *ranked = malloc(length * sizeof(*ranked));

    side->length = (int64_t)length;
    side->place = calloc(length, sizeof(*side->place));
    side->axis = (struct plot_axis){name, side->length, calloc(length, PLOT_LABEL)};
    bool memory = side->place && side->axis.label && ranked;
    if (memory) {
        rank_side(side, name ? grid_axis(view, name) : NULL, ranked);
        label_side(side, view, ranked);
        for (int64_t i = 0; i < side->length; i++)
            side->place[ranked[i].index] = i;
    }
    free(ranked);
    return memory ? 0 : -1;
}

int plane_init(
    struct plane *plane, const struct view *view, const struct view_variable *variable, struct error *error)
{
    *plane = (struct plane){.variable = *variable};
    choose(plane);
    if (side_init(&plane->x, view, &plane->variable) == 0 &&
        side_init(&plane->y, view, &plane->variable) == 0)
        return 0;
    plane_release(plane);
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
}

static void side_release(struct side *side)
{
    free(side->place);
    free(side->axis.label);
    *side = (struct side){.dimension = -1};
}

void plane_release(struct plane *plane)
{
    side_release(&plane->x);
    side_release(&plane->y);
}

int64_t plane_cell(const struct plane *plane, int64_t index)
{
    int64_t x = 0, y = 0;

    for (int i = plane->variable.dimension_count - 1; i >= 0; i--) {
        int64_t place = index % plane->variable.length[i];
        index /= plane->variable.length[i];
        if (i == plane->x.dimension)
            x = plane->x.place[place];
        if (i == plane->y.dimension)
            y = plane->y.place[place];
    }
    return y * plane->x.length + x;
}

char *plane_others(const struct plane *plane, const char *left_out, char *text, size_t size)
{
    const struct view_variable *variable = &plane->variable;

    text[0] = '\0';
    for (int i = 0; i < variable->dimension_count; i++) {
        size_t used = strlen(text);
        bool other = variable->length[i] > 1 && i != plane->x.dimension && i != plane->y.dimension &&
                     (!left_out || strcmp(variable->dimension[i], left_out) != 0);
        if (other)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", variable->dimension[i]);
    }
    return text;
}

void plane_title(FILE *out, const struct view *view, const char *what)
{
    char *title = view_text(view, ATTRIBUTE_TITLE);

    fprintf(out, "%s: %s%s%s\n", view->name, what, title ? ": " : "", title ? title : "");
    free(title);
}
