#include "driver/reduction.h"

#include "driver/dataset_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps the last value along `step`, NaNs aside: at its place 0. The others become NaN. */
static void keep_last_step(const struct shape *shape, int step, double *values)
{
    int64_t inner = 1;

    for (int i = step + 1; i < shape->count; i++)
        inner *= shape->dimension[i].length;
    int64_t steps = shape->dimension[step].length, outer = shape->size / (steps * inner);
    for (int64_t i = 0; i < outer * inner; i++) {
        double *first = values + i / inner * steps * inner + i % inner, last = NAN;
        for (int64_t j = 0; j < steps; j++) {
            last = isnan(first[j * inner]) ? last : first[j * inner];
            first[j * inner] = NAN;
        }
        *first = last;
    }
}

int reduction_hidden_step(const struct plane *plane)
{
    int step = shape_find(plane->shape, metric_dimension_table[DIMENSION_STEP].name);
    bool drawn = step == plane->x.dimension || step == plane->y.dimension;

    return step >= 0 && !drawn && dimension_is_open(&plane->shape->dimension[step]) ? step : -1;
}

static int64_t cell_count(const struct plane *plane)
{
    return plane->x.length * plane->y.length;
}

/* `count` has room for a number per cell, all 0. */
static void average(double *mean, const struct plane *plane, const double *values, int64_t *count)
{
    for (int64_t i = 0; i < plane->shape->size; i++) {
        int64_t cell = isnan(values[i]) ? -1 : plane_cell(plane, i);
        if (cell < 0)
            continue;
        mean[cell] += values[i];
        count[cell]++;
    }
    for (int64_t i = 0; i < cell_count(plane); i++)
        mean[i] = count[i] ? mean[i] / (double)count[i] : NAN;
}

/* The flag that most of the counts are of, the lowest of equals; NaN where all are 0. */
static double most_frequent(const int64_t *count, int flags)
{
    int best = 0;

    for (int flag = 1; flag < flags; flag++)
        best = count[flag] > count[best] ? flag : best;
    return count[best] ? best : NAN;
}

/* `count` has room for a number per cell and flag, all 0. */
static void vote(double *winner, const struct plane *plane, const double *values, int flags, int64_t *count)
{
    for (int64_t i = 0; i < plane->shape->size; i++) {
        int64_t cell = values[i] >= 0 && values[i] < flags ? plane_cell(plane, i) : -1;
        if (cell >= 0)
            count[cell * flags + (int)values[i]]++;
    }
    for (int64_t i = 0; i < cell_count(plane); i++)
        winner[i] = most_frequent(count + i * flags, flags);
}

static void find_range(struct reduction *reduction, int64_t cells)
{
    reduction->low = INFINITY;
    reduction->high = -INFINITY;
    for (int64_t i = 0; i < cells; i++) {
        if (!isfinite(reduction->value[i]))
            continue;
        reduction->low = fmin(reduction->low, reduction->value[i]);
        reduction->high = fmax(reduction->high, reduction->value[i]);
    }
}

/* `values` has room for the whole variable, `count` for the plane and, of flags, each of them. */
static int read_and_reduce(struct reduction *reduction, const struct view *view,
    const struct view_variable *variable, const struct plane *plane, double *values, int64_t *count,
    struct error *error)
{
    int step = reduction_hidden_step(plane);

    if (view_read(view, variable, values, error) != 0)
        return -1;
    if (step >= 0)
        keep_last_step(plane->shape, step, values);
    if (reduction->flags.count)
        vote(reduction->value, plane, values, reduction->flags.count, count);
    else
        average(reduction->value, plane, values, count);
    find_range(reduction, cell_count(plane));
    return 0;
}

int reduction_init(struct reduction *reduction, const struct view *view, const struct view_variable *variable,
    const struct plane *plane, struct error *error)
{
    size_t cells = (size_t)cell_count(plane);
    int result = -1;

    *reduction = (struct reduction){.value = calloc(cells, sizeof(*reduction->value))};
    view_flags(view, variable, &reduction->flags);
    size_t flags = reduction->flags.count ? (size_t)reduction->flags.count : 1;
    double *values = malloc((size_t)variable->size * sizeof(*values));
    int64_t *count = calloc(cells * flags, sizeof(*count));
    if (values && count && reduction->value)
        result = read_and_reduce(reduction, view, variable, plane, values, count, error);
    else
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    free(values);
    free(count);
    if (result != 0)
        reduction_release(reduction);
    return result;
}

void reduction_release(struct reduction *reduction)
{
    free(reduction->value);
    reduction->value = NULL;
}
