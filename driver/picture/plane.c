#include "driver/picture/plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_open(const struct shape *shape, const char *name)
{
    int found = shape_find(shape, name);

    return found >= 0 && dimension_is_open(&shape->dimension[found]) ? found : PLANE_NONE;
}

/* The first open dimension other than `taken` and the seed, or PLANE_NONE. */
static int next_open(const struct shape *shape, int taken)
{
    for (int i = 0; i < shape->count; i++)
        if (i != taken && dimension_is_open(&shape->dimension[i]) &&
            !dimension_is_repeat(&shape->dimension[i]))
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

/* Sets places and labels; numbers are drawn in ascending order. False: no memory. */
static bool rank(struct side *side, const struct dimension *dimension)
{
    struct ranked_axis *ranked = malloc((size_t)side->length * sizeof(*ranked));
    int digits = dimension_digits(dimension);

    if (!ranked)
        return false;
    for (int64_t i = 0; i < side->length; i++)
        ranked[i] = (struct ranked_axis){dimension->number ? dimension->number[i] : 0, i};
    qsort(ranked, (size_t)side->length, sizeof(*ranked), compare_ranked);
    for (int64_t i = 0; i < side->length; i++) {
        side->place[ranked[i].index] = i;
        dimension_label(dimension, ranked[i].index, digits, side->axis.label[i]);
    }
    free(ranked);
    return true;
}

static bool side_init(struct side *side, const struct shape *shape)
{
    const struct dimension *dimension = side->dimension < 0 ? NULL : &shape->dimension[side->dimension];

    side->length = dimension ? dimension->length : 1;
    side->place = calloc((size_t)side->length, sizeof(*side->place));
    side->axis.name = dimension ? dimension->name : NULL;
    side->axis.length = side->length;
    side->axis.label = calloc((size_t)side->length, sizeof(*side->axis.label));
    return side->place && side->axis.label && (!dimension || rank(side, dimension));
}

int plane_init(struct plane *plane, const struct shape *shape, int x, int y, struct error *error)
{
    *plane = (struct plane){.shape = shape, .x.dimension = x, .y.dimension = y};
    if (x == PLANE_CHOOSE)
        choose_axes(plane);
    if (side_init(&plane->x, shape) && side_init(&plane->y, shape))
        return 0;
    plane_release(plane);
    return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
}

static void side_release(struct side *side)
{
    free(side->place);
    free(side->axis.label);
    *side = (struct side){.dimension = PLANE_NONE};
}

void plane_release(struct plane *plane)
{
    side_release(&plane->x);
    side_release(&plane->y);
}

int64_t plane_cell(const struct plane *plane, int64_t index)
{
    int64_t x = 0, y = 0;

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
    }
    return y * plane->x.length + x;
}

char *plane_others(const struct plane *plane, const char *left_out, char *text, size_t size)
{
    const struct shape *shape = plane->shape;

    text[0] = '\0';
    for (int i = 0; i < shape->count; i++) {
        size_t used = strlen(text);
        bool other = dimension_is_open(&shape->dimension[i]) && i != plane->x.dimension &&
                     i != plane->y.dimension &&
                     (!left_out || strcmp(shape->dimension[i].name, left_out) != 0);
        if (other)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", shape->dimension[i].name);
    }
    return text;
}

char *plane_fixed(const struct shape *shape, char *text, size_t size)
{
    char label[DIMENSION_LABEL];

    text[0] = '\0';
    for (int i = 0; i < shape->count; i++) {
        const struct dimension *dimension = &shape->dimension[i];
        size_t used = strlen(text);
        if (dimension->fixed >= 0)
            snprintf(text + used, size - used, "%s%s=%s", used ? ", " : " at ", dimension->name,
                dimension_label(dimension, dimension->fixed, dimension_digits(dimension), label));
    }
    return text;
}
