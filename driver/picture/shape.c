/* The dimensions of a grid or a variable, with their values as people read them. */
#include "driver/picture/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 256 };

static void dimension_release(struct dimension *dimension)
{
    for (int64_t i = 0; dimension->word && i < dimension->length; i++)
        free(dimension->word[i]);
    free(dimension->word);
    free(dimension->number);
    dimension->word = NULL;
    dimension->number = NULL;
}

void shape_release(struct shape *shape)
{
    for (int i = 0; i < shape->count; i++)
        dimension_release(&shape->dimension[i]);
    *shape = (struct shape){.size = 1};
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
        return;
    }
    dimension->word = memory_zero(length, sizeof(*dimension->word));
    for (size_t i = 0; i < length; i++)
        dimension->word[i] = memory_copy(label_axis_value(axis, (int64_t)i, text, sizeof(text)));
}

/* Reads the numbers of a coordinate variable; leaves none if some are not finite, and so can neither be
 * sorted nor drawn to scale. */
static int read_numbers(struct dimension *dimension, const struct view *view,
    const struct view_variable *variable, struct error *error)
{
    dimension->number = memory_new((size_t)dimension->length, sizeof(*dimension->number));
    if (view_read(view, variable, dimension->number, error) != 0)
        return -1;
    for (int64_t i = 0; dimension->number && i < dimension->length; i++)
        if (!isfinite(dimension->number[i]))
            dimension_release(dimension);
    return 0;
}

/* Reads the texts of a coordinate variable; leaves none if one is not of the expected form. */
static int read_words(struct dimension *dimension, const struct view *view, struct error *error)
{
    dimension->word = memory_zero((size_t)dimension->length, sizeof(*dimension->word));
    for (int64_t i = 0; i < dimension->length; i++) {
        int cause = 0;
        dimension->word[i] = view_string(view, dimension->name, i, &cause);
        if (cause)
            return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
        if (!dimension->word[i]) {
            dimension_release(dimension);
            return 0;
        }
    }
    return 0;
}

/* A dimension without a coordinate variable is numbered. */
static int take_coordinate(struct dimension *dimension, const struct view *view, struct error *error)
{
    struct view_variable variable;
    int result = 0;

    if (view_find(view, dimension->name, &variable) && variable.size == dimension->length)
        result = read_numbers(dimension, view, &variable, error);
    else if (view_is_text(view, dimension->name))
        result = read_words(dimension, view, error);
    if (result != 0 || dimension->number || dimension->word)
        return result;
    dimension->number = memory_new((size_t)dimension->length, sizeof(*dimension->number));
    for (int64_t i = 0; i < dimension->length; i++)
        dimension->number[i] = (double)i;
    return 0;
}

static struct dimension *add_dimension(struct shape *shape, const char *name, int64_t length)
{
    struct dimension *dimension = &shape->dimension[shape->count++];

    *dimension = (struct dimension){.name = name, .length = length, .fixed = -1};
    shape->size *= length;
    return dimension;
}

void shape_of_axes(struct shape *shape, int64_t axis_count, const struct axis *axis)
{
    *shape = (struct shape){.size = 1};
    for (int64_t i = 0; i < axis_count && i < VIEW_DIMENSIONS_MAX; i++)
        take_axis(add_dimension(shape, axis[i].name, axis[i].length), &axis[i]);
}

static const struct axis *grid_axis(const struct view *view, const char *name)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        if (strcmp(view->axis[i].name, name) == 0)
            return &view->axis[i];
    return NULL;
}

int shape_of_variable(
    struct shape *shape, const struct view *view, const struct view_variable *variable, struct error *error)
{
    *shape = (struct shape){.size = 1};
    for (int i = 0; i < variable->dimension_count; i++) {
        const struct axis *axis = grid_axis(view, variable->dimension[i]);
        struct dimension *dimension = add_dimension(shape, variable->dimension[i], variable->length[i]);
        if (axis) {
            take_axis(dimension, axis);
        } else if (take_coordinate(dimension, view, error) != 0) {
            shape_release(shape);
            return -1;
        }
    }
    return 0;
}

int64_t shape_values_a_run(const struct shape *shape, const struct view *view)
{
    if (shape->count < view->axis_count)
        return 0;
    for (int i = 0; i < view->axis_count; i++)
        if (strcmp(shape->dimension[i].name, view->axis[i].name) != 0)
            return 0;
    return shape->size / view->cells;
}

int shape_find(const struct shape *shape, const char *name)
{
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->dimension[i].name, name) == 0)
            return i;
    return -1;
}

char *dimension_label(
    const struct dimension *dimension, int64_t index, int digits, char label[DIMENSION_LABEL])
{
    if (dimension->word) {
        snprintf(label, DIMENSION_LABEL, "%.*s", DIMENSION_LABEL - 1, dimension->word[index]);
        return label_cut(label);
    }
    return label_number(dimension->number[index], digits, label, DIMENSION_LABEL);
}

int dimension_digits(const struct dimension *dimension)
{
    return dimension->number ? label_digits(dimension->number, dimension->length) : 0;
}
