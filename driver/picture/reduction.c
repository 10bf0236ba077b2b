#include "driver/picture/reduction.h"

#include "driver/dataset/variables.h"
#include "driver/dataset/view_attributes.h"
#include "driver/tables/dataset_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moves the last value along `step` that is not NaN to index 0; the others become NaN. */
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

/* `count`: [cells], all 0. */
static void average_plane(
    double *mean, const struct plane *plane, const double *values, bool geometric, int64_t *count)
{
    for (int64_t i = 0; i < plane->shape->size; i++) {
        bool counts = geometric ? isfinite(values[i]) : !isnan(values[i]);
        int64_t cell = counts ? plane_cell(plane, i) : -1;
        if (cell < 0)
            continue;
        mean[cell] += geometric ? log(values[i]) : values[i];
        count[cell]++;
    }
    for (int64_t i = 0; i < cell_count(plane); i++) {
        double quotient = count[i] ? mean[i] / (double)count[i] : NAN;
        mean[i] = geometric ? exp(quotient) : quotient;
    }
}

/* `balance`: [cells], all 0; becomes diverged minus done runs. Returns whether any run has not diverged. */
static bool count_diverged(struct reduction *reduction, const struct plane *plane, const signed char *outcome,
    int64_t values_a_run, int64_t *balance)
{
    int64_t last = -1;
    bool others = false;

    for (int64_t i = 0; i < plane->shape->size; i++) {
        int64_t run = i / values_a_run, cell = plane_cell(plane, i);
        bool diverged = outcome[run] == OUTCOME_DIVERGED;
        if (cell < 0)
            continue;
        balance[cell] += diverged - (outcome[run] == OUTCOME_DONE);
        others = others || !diverged;
        reduction->diverged_runs += diverged && run != last;
        last = run;
    }
    for (int64_t i = 0; i < cell_count(plane); i++)
        reduction->diverged[i] = balance[i] > 0;
    return others;
}

/* Sets the number of cells with fewer runs than others. `values`: [cells], all 0. */
static void count_fewer(struct reduction *reduction, const struct plane *plane, const signed char *outcome,
    int64_t values_a_run, int64_t *values)
{
    int64_t most = 0;

    for (int64_t i = 0; i < plane->shape->size; i++) {
        int64_t cell = plane_cell(plane, i);
        if (cell >= 0 && outcome[i / values_a_run] != OUTCOME_SKIPPED && ++values[cell] > most)
            most = values[cell];
    }
    for (int64_t i = 0; i < cell_count(plane); i++)
        reduction->fewer += values[i] > 0 && values[i] < most;
}

/* Replaces values of diverged runs by NaN, unless all runs diverged. */
static void leave_diverged_out(struct reduction *reduction, const struct plane *plane,
    const signed char *outcome, int64_t values_a_run, double *values, int64_t *balance)
{
    reduction->all_diverged = !count_diverged(reduction, plane, outcome, values_a_run, balance);
    if (reduction->all_diverged)
        return;
    for (int64_t i = 0; i < plane->shape->size; i++)
        if (outcome[i / values_a_run] == OUTCOME_DIVERGED)
            values[i] = NAN;
}

/* Leaves diverged runs out, if the variable is a metric of training. */
static int judge_runs(struct reduction *reduction, const struct view *view, const struct plane *plane,
    double *values, struct error *error)
{
    int64_t values_a_run = shape_values_a_run(plane->shape, view);

    if (!reduction->nature->trained || values_a_run == 0)
        return 0;
    signed char *outcome = malloc((size_t)view->cells);
    int64_t *balance = calloc((size_t)cell_count(plane), sizeof(*balance));
    int64_t *counts = calloc((size_t)cell_count(plane), sizeof(*counts));
    int result = -1;
    if (!outcome || !balance || !counts) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    } else if (view_known_outcomes(view, outcome, error) == 0) {
        leave_diverged_out(reduction, plane, outcome, values_a_run, values, balance);
        count_fewer(reduction, plane, outcome, values_a_run, counts);
        result = 0;
    }
    free(outcome);
    free(balance);
    free(counts);
    return result;
}

/* If most runs diverged, do not show the mean of the rest. */
static void drop_diverged(struct reduction *reduction, int64_t cells)
{
    for (int64_t i = 0; i < cells && !reduction->all_diverged; i++)
        if (reduction->diverged[i])
            reduction->value[i] = NAN;
}

/* The flag with the largest count, the lowest in a tie; NaN if all counts are 0. */
static double most_frequent(const int64_t *count, int flags)
{
    int best = 0;

    for (int flag = 1; flag < flags; flag++)
        best = count[flag] > count[best] ? flag : best;
    return count[best] ? best : NAN;
}

/* `count`: [cells][flags], all 0. */
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

/* `values` has room for the whole variable; `count` is [cells], or [cells][flags] for flags. */
static int read_and_reduce(struct reduction *reduction, const struct view *view,
    const struct view_variable *variable, const struct plane *plane, double *values, int64_t *count,
    struct error *error)
{
    int step = reduction_hidden_step(plane);

    if (view_read(view, variable, values, error) != 0 ||
        judge_runs(reduction, view, plane, values, error) != 0)
        return -1;
    if (step >= 0)
        keep_last_step(plane->shape, step, values);
    if (reduction->flags.count)
        vote(reduction->value, plane, values, reduction->flags.count, count);
    else
        average_plane(reduction->value, plane, values, reduction->nature->geometric, count);
    drop_diverged(reduction, cell_count(plane));
    return 0;
}

int reduction_init(struct reduction *reduction, const struct view *view, const struct view_variable *variable,
    const struct plane *plane, struct error *error)
{
    size_t cells = (size_t)cell_count(plane);
    int result = -1;

    char *word = view_variable_text(view, variable, METRIC_NATURE);
    *reduction = (struct reduction){.nature = nature_of(word),
        .value = calloc(cells, sizeof(*reduction->value)),
        .diverged = calloc(cells, sizeof(*reduction->diverged))};
    free(word);
    view_flags(view, variable, &reduction->flags);
    size_t flags = reduction->flags.count ? (size_t)reduction->flags.count : 1;
    double *values = malloc((size_t)variable->size * sizeof(*values));
    int64_t *count = calloc(cells * flags, sizeof(*count));
    if (values && count && reduction->value && reduction->diverged)
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
    free(reduction->diverged);
    reduction->value = NULL;
    reduction->diverged = NULL;
}
