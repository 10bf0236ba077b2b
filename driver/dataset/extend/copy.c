/*
 * Copies measurements to a new file: by value along the axes, by step, layer and tensor. Cells that were
 * never started have nothing to copy. verify_dataset() and mapping_init() have checked the old file.
 */
#include "driver/dataset/extend/inside.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"
#include "worker/checkpoint/checkpoint.h"

#include <netcdf.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two open files, and how the first maps to the second. */
struct copy {
    const struct mapping *mapping;
    const struct view *view; /* the old file */
    const struct layout *layout; /* of the new one */
    int file; /* the new one */
    int64_t count;
    int64_t *from, *to; /* [count] cells */
    int64_t *step; /* [view->step_count] places among the new steps */
    double *old, *new; /* one cell of the largest variable: [old_room], [new_room] */
    size_t old_room, new_room;
};

static void cell_index(const struct axis *axis, int64_t axis_count, int64_t cell, size_t *index)
{
    int64_t rest = cell;

    for (int64_t i = axis_count - 1; i >= 0; i--) {
        index[i] = (size_t)(rest % axis[i].length);
        rest /= axis[i].length;
    }
    INVARIANT(cell >= 0 && rest == 0, "cell %lld is outside of the grid", (long long)cell);
}

/* Finds the cells that were ever started. */
static int find_cells(struct copy *copy)
{
    const struct view *view = copy->view;
    long long *tries = malloc((size_t)view->cells * sizeof(*tries));
    int attempts;

    copy->from = malloc((size_t)view->cells * sizeof(*copy->from));
    copy->to = malloc((size_t)view->cells * sizeof(*copy->to));
    int status = tries && copy->from && copy->to ? NC_NOERR : NC_ENOMEM;
    if (status == NC_NOERR)
        status = lookup_variable(view->file, run_variable_table[RUN_VARIABLE_attempts].name, &attempts);
    if (status == NC_NOERR)
        status = nc_get_var_longlong(view->file, attempts, tries);
    for (int64_t cell = 0; status == NC_NOERR && cell < view->cells; cell++) {
        if (tries[cell] <= 0)
            continue;
        copy->from[copy->count] = cell;
        copy->to[copy->count++] = mapping_cell(copy->mapping, view, cell);
    }
    free(tries);
    return status;
}

/* Both lists of steps ascend, and the new list contains the old one. */
static int find_steps(struct copy *copy)
{
    const struct layout *layout = copy->layout;
    int64_t place = 0;

    copy->step = malloc((size_t)copy->view->step_count * sizeof(*copy->step));
    if (!copy->step)
        return NC_ENOMEM;
    for (int64_t i = 0; i < copy->view->step_count; i++) {
        while (place < layout->step_count - 1 && layout->step[place] < copy->view->step[i])
            place++;
        INVARIANT(layout->step[place] == copy->view->step[i], "step %lld is not among the new ones",
            (long long)copy->view->step[i]);
        copy->step[i] = place;
    }
    return NC_NOERR;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int make_room(struct copy *copy)
{
    const struct view *view = copy->view;
    const struct layout *layout = copy->layout;

    copy->old_room = copy->new_room = 1;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t old = metric_values(metric, &view->form) * (size_t)view->step_count;
        size_t new = metric_values(metric, &layout->form) * (size_t)layout->step_count;
        copy->old_room = larger(copy->old_room, old);
        copy->new_room = larger(copy->new_room, new);
    }
    copy->old = malloc(copy->old_room * sizeof(*copy->old));
    copy->new = malloc(copy->new_room * sizeof(*copy->new));
    return copy->old && copy->new ? NC_NOERR : NC_ENOMEM;
}

/* Copies one number or text of each run. */
static int copy_run_variable(const struct copy *copy, const struct variable *row)
{
    const struct sweep *sweep = copy->layout->sweep;
    size_t start[DIMENSIONS_MAX] = {0}, count[DIMENSIONS_MAX];
    _Alignas(double) char value[STRING_LONGEST];
    int old, new, status = lookup_variable(copy->view->file, row->name, &old);

    _Static_assert(sizeof(value) >= sizeof(double), "a number fits, too");
    if (status == NC_NOERR)
        status = lookup_variable(copy->file, row->name, &new);
    for (int i = 0; i < DIMENSIONS_MAX; i++)
        count[i] = 1;
    for (int64_t i = 0; status == NC_NOERR && i < copy->count; i++) {
        memset(start, 0, sizeof(start));
        cell_index(copy->view->axis, copy->view->axis_count, copy->from[i], start);
        count[sweep->axis_count] = 1;
        count[copy->view->axis_count] = row->type == NC_CHAR ? (size_t)row->width : 1;
        status = nc_get_vara(copy->view->file, old, start, count, value);
        if (status != NC_NOERR)
            break;
        memset(start, 0, sizeof(start));
        cell_index(sweep->axis, sweep->axis_count, copy->to[i], start);
        count[copy->view->axis_count] = 1;
        count[sweep->axis_count] = row->type == NC_CHAR ? (size_t)row->width : 1;
        status = nc_put_vara(copy->file, new, start, count, value);
    }
    return status;
}

/* The shape of one cell of a metric: the axes, then the metric's own dimensions. Its values fit into `room`.
 */
static void cell_shape(enum metric metric, int64_t axes, int64_t steps, const struct metric_form *form,
    size_t room, size_t *start, size_t *count)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = metric_dimensions(metric, form, dimension);
    size_t values = 1;

    for (int64_t i = 0; i < axes; i++)
        count[i] = 1;
    for (int i = 0; i < rank; i++) {
        start[axes + i] = 0;
        count[axes + i] = (size_t)(dimension[i] == DIMENSION_STEP ? steps : form->along[dimension[i]]);
        values *= count[axes + i];
    }
    INVARIANT(values <= room, "%s: %zu values, room for %zu", metric_table[metric].name, values, room);
}

/* Copies row by row from the old lengths of dimensions to the new ones, for a run whose only stack, where the
 * old file tells none apart, has the place first_stack. */
static void scatter(const struct copy *copy, enum metric metric, int64_t first_stack)
{
    struct metric_form from = copy->view->form;
    const struct metric_form *to = &copy->layout->form;
    size_t old = metric_values(metric, &from), new = metric_values(metric, to);
    bool of_run = metric_is_of_run(metric);
    size_t steps = of_run ? 1 : (size_t)copy->layout->step_count;

    from.first_stack = first_stack;
    for (size_t i = 0; i < steps * new; i++)
        copy->new[i] = NAN;
    for (int64_t i = 0; i < (of_run ? 1 : copy->view->step_count); i++) {
        double *row = copy->new + (size_t)(of_run ? 0 : copy->step[i]) * new;
        for (size_t j = 0, count; j < old; j += count) {
            size_t there = layout_find(to, &from, metric, j, &count);
            memcpy(row + there, copy->old + (size_t)i * old + j, count * sizeof(double));
        }
    }
}

/* Copies a metric of each run; where the old file tells no stacks apart, those of the one stack from those of
 * the whole. */
static int copy_metric(const struct copy *copy, enum metric metric)
{
    const struct sweep *sweep = copy->layout->sweep;
    const struct view *view = copy->view;
    enum metric there = view->form.along[DIMENSION_STACK] == 1 ? metric_of_all_stacks(metric) : metric;
    size_t start[DIMENSIONS_MAX], count[DIMENSIONS_MAX];
    struct run run;
    int old, new, status = lookup_variable(view->file, metric_table[there].name, &old);

    if (status == NC_NOERR)
        status = lookup_variable(copy->file, metric_table[metric].name, &new);
    for (int64_t i = 0; status == NC_NOERR && i < copy->count; i++) {
        cell_index(view->axis, view->axis_count, copy->from[i], start);
        cell_shape(there, view->axis_count, view->step_count, &view->form, copy->old_room, start, count);
        status = nc_get_vara_double(view->file, old, start, count, copy->old);
        if (status != NC_NOERR)
            break;
        sweep_cell(sweep, copy->to[i], &run);
        scatter(copy, metric, metric_form(&run, &sweep->measure).first_stack);
        cell_index(sweep->axis, sweep->axis_count, copy->to[i], start);
        cell_shape(metric, sweep->axis_count, copy->layout->step_count, &copy->layout->form, copy->new_room,
            start, count);
        status = nc_put_vara_double(copy->file, new, start, count, copy->new);
    }
    return status;
}

/* Copies one text or number of every session unchanged. */
static int copy_session_variable(const struct copy *copy, const struct variable *row)
{
    size_t start[2] = {0, 0}, count[2] = {(size_t)copy->view->sessions, (size_t)row->width};
    int old, new, status = lookup_variable(copy->view->file, row->name, &old);
    void *value = malloc(count[0] * (row->type == NC_CHAR ? count[1] : sizeof(double)));

    if (status == NC_NOERR)
        status = value ? lookup_variable(copy->file, row->name, &new) : NC_ENOMEM;
    if (status == NC_NOERR)
        status = nc_get_vara(copy->view->file, old, start, count, value);
    if (status == NC_NOERR)
        status = nc_put_vara(copy->file, new, start, count, value);
    free(value);
    return status;
}

static int copy_all(const struct copy *copy)
{
    const struct outline outline = layout_outline(copy->layout);
    int count = 0;
    struct variable *row = variable_table(&outline, &count);
    int status = row ? NC_NOERR : NC_ENOMEM;

    for (int i = 0; status == NC_NOERR && i < count; i++)
        if (row[i].kind == VARIABLE_RUN)
            status = copy_run_variable(copy, &row[i]);
        else if (row[i].kind == VARIABLE_METRIC)
            status = copy_metric(copy, (enum metric)row[i].which);
        else if (row[i].kind == VARIABLE_SESSION)
            status = copy_session_variable(copy, &row[i]);
    free(row);
    return status;
}

int mapping_copy(
    const struct mapping *mapping, const struct view *view, const struct layout *layout, const char *path)
{
    struct copy copy = {.mapping = mapping, .view = view, .layout = layout};
    int status = nc_open(path, NC_WRITE, &copy.file);

    if (status != NC_NOERR)
        return status;
    status = find_cells(&copy);
    if (status == NC_NOERR)
        status = find_steps(&copy);
    if (status == NC_NOERR)
        status = make_room(&copy);
    if (status == NC_NOERR)
        status = copy_all(&copy);
    int closed = written_close(copy.file);
    free(copy.from);
    free(copy.to);
    free(copy.step);
    free(copy.old);
    free(copy.new);
    return status == NC_NOERR ? closed : status;
}
