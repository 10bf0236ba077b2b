/*
 * A start finds a run by its values along the axes, a row by its step, and everything else by its index; so
 * these coordinates must be unchanged.
 */
#include "driver/dataset/verify_coordinates.h"
#include "driver/dataset/definition.h"
#include "driver/dataset/lookup.h"
#include "driver/dataset/variables.h"
#include "driver/dataset/verify.h"
#include "driver/sweep/label.h"
#include "driver/sweep/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-12 /* relative, of computed coordinates */

/* Orders two indices of an axis by their labels or values. */
static int by_value(const void *left, const void *right, void *context)
{
    const struct axis *axis = context;
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return axis->label ? strcmp(axis->label[a], axis->label[b])
                       : value_compare(axis->param[0], axis->value[a], axis->value[b]);
}

/* Two runs with equal values would become one cell of an extended file. */
static int verify_distinct(const struct view *view, const struct axis *axis, struct error *error)
{
    int64_t *sorted = malloc((size_t)axis->length * sizeof(*sorted));
    char text[LABEL_SIZE];
    int result = 0;

    if (!sorted)
        return layout_error(error, view->name, NC_ENOMEM);
    for (int64_t i = 0; i < axis->length; i++)
        sorted[i] = i;
    qsort_r(sorted, (size_t)axis->length, sizeof(*sorted), by_value, (void *)axis);
    for (int64_t i = 1; result == 0 && i < axis->length; i++)
        if (by_value(&sorted[i - 1], &sorted[i], (void *)axis) == 0)
            result = verify_fault(error, view, "%s has %s twice", axis->name,
                label_axis_value(axis, sorted[i], text, sizeof(text)));
    free(sorted);
    return result;
}

static int verify_steps(const struct view *view, struct error *error)
{
    const char *name = metric_dimension_table[DIMENSION_STEP].name;

    if (view->step[0] < 0)
        return verify_fault(error, view, "%s begins at %lld", name, (long long)view->step[0]);
    for (int64_t i = 1; i < view->step_count; i++)
        if (view->step[i] <= view->step[i - 1])
            return verify_fault(error, view, "%s does not ascend: %lld comes after %lld", name,
                (long long)view->step[i], (long long)view->step[i - 1]);
    return 0;
}

/* Checks a coordinate of numbers: "layer is 7 at place 0 and not 0". */
static int verify_numbers(const struct view *view, enum metric_dimension dimension, struct error *error)
{
    const char *name = metric_dimension_table[dimension].name;
    int64_t length = view->form.along[dimension];
    double *value = malloc((size_t)length * sizeof(*value));
    int variable, result = 0, status = value ? lookup_variable(view->file, name, &variable) : NC_ENOMEM;

    if (status == NC_NOERR)
        status = nc_get_var_double(view->file, variable, value);
    if (status != NC_NOERR) {
        free(value);
        return layout_error(error, view->name, status);
    }
    for (int64_t i = 0; result == 0 && i < length; i++) {
        double expected = metric_dimension_table[dimension].number(i);
        if (!(fabs(value[i] - expected) <= TOLERANCE * fabs(expected)))
            result = verify_fault(error, view, "%s is %.12g at place %lld and not %.12g", name, value[i],
                (long long)i, expected);
    }
    free(value);
    return result;
}

/* Words at their places. */
static int verify_words(const struct view *view, enum metric_dimension dimension, struct error *error)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];
    int result = 0;

    for (int64_t i = 0; result == 0 && i < view->form.along[dimension]; i++) {
        const char *expected = row->word(i);
        char *text = view_string(view, row->name, i);
        if (!text && errno)
            return layout_error(error, view->name, errno);
        if (!text || !expected || strcmp(text, expected) != 0)
            result = verify_fault(error, view, "%s is '%s' at place %lld and not '%s'", row->name,
                text ? text : "", (long long)i, expected ? expected : "");
        free(text);
    }
    return result;
}

static int verify_dimension(const struct view *view, enum metric_dimension dimension, struct error *error)
{
    const char *name = metric_dimension_table[dimension].name;
    struct variable_form form = {definition_dimension_type(dimension), 1, {name}, 0};

    if (verify_variable(view, name, &form, error) != 0)
        return -1;
    if (dimension == DIMENSION_STEP)
        return verify_steps(view, error);
    return form.type == NC_CHAR ? verify_words(view, dimension, error)
                                : verify_numbers(view, dimension, error);
}

/* Does the file have the dimension? Stacks are told apart only where there are several. */
static bool has_dimension(const struct view *view, enum metric_dimension dimension)
{
    return view->form.along[dimension] > (dimension == DIMENSION_STACK ? 1 : 0);
}

int verify_coordinates(const struct view *view, struct error *error)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        if (verify_distinct(view, &view->axis[i], error) != 0)
            return -1;
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (has_dimension(view, i) && verify_dimension(view, i, error) != 0)
            return -1;
    return 0;
}
