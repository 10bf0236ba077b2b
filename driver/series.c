/* A variable over steps, as lines: one for each value of one axis, means over what is not told apart. */
#include "driver/chart.h"
#include "driver/dataset_tables.h"
#include "driver/lines.h"
#include "driver/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of one line at one step. */
struct sum {
    double sum, diverged; /* of runs that have not, and that have diverged */
    int64_t count, diverged_count;
};

struct series {
    const struct picture *picture;
    const char *name;
    struct shape shape;
    struct plane plane; /* steps along x, lines along y */
    signed char *outcome; /* [cells] */
    bool *seen; /* [cells] is the run among what is drawn? */
    struct sum *sum; /* [lines][steps] */
    double *step, *mean; /* [steps], [lines][steps] */
    int64_t infinite; /* values that are left out */
};

static int64_t cell_count(const struct series *series)
{
    return series->plane.x.length * series->plane.y.length;
}

static bool is_step(const struct dimension *dimension)
{
    return strcmp(dimension->name, metric_dimension_table[DIMENSION_STEP].name) == 0;
}

/* The dimension that tells lines apart where nothing is said of it; PLANE_NONE: there is one line. */
static int choose_lines(const struct shape *shape)
{
    int rate = shape_find(shape, "learning_rate");

    if (rate >= 0 && dimension_is_open(&shape->dimension[rate]))
        return rate;
    for (int i = 0; i < shape->count; i++)
        if (!is_step(&shape->dimension[i]) && dimension_is_open(&shape->dimension[i]))
            return i;
    return PLANE_NONE;
}

/* Steps and lines as the selection says. */
static int choose(struct series *series, struct error *error)
{
    const struct picture *picture = series->picture;
    struct shape *shape = &series->shape;
    char about[PICTURE_ABOUT];
    int lines, step = shape_find(shape, metric_dimension_table[DIMENSION_STEP].name);

    snprintf(about, sizeof(about), "%s: %s", picture->view->name, series->name);
    if (step < 0)
        return error_set(
            error, ERROR_INPUT, "%s has one value a run and none over steps, which --series draws", about);
    if (selection_fix(&picture->selection, shape, about, error) != 0)
        return -1;
    int count = selection_over(&picture->selection, shape, 1, &lines, about, error);
    if (count < 0)
        return -1;
    if (shape->dimension[step].fixed >= 0 || (count && lines == step))
        return error_set(
            error, ERROR_INPUT, "%s: --series draws over step; neither --at nor --over can have it", about);
    return plane_init(&series->plane, shape, step, count ? lines : choose_lines(shape), error);
}

static void add(struct series *series, int64_t index, int64_t run, double value)
{
    int64_t cell = isnan(value) ? -1 : plane_cell(&series->plane, index);
    bool diverged = run >= 0 && series->outcome[run] == OUTCOME_DIVERGED;

    if (cell < 0)
        return;
    if (run >= 0)
        series->seen[run] = true;
    if (isinf(value)) {
        series->infinite++;
    } else if (diverged) {
        series->sum[cell].diverged += value;
        series->sum[cell].diverged_count++;
    } else {
        series->sum[cell].sum += value;
        series->sum[cell].count++;
    }
}

/* Has a line runs that have not diverged? */
static bool has_others(const struct series *series, int64_t line)
{
    for (int64_t i = 0; i < series->plane.x.length; i++)
        if (series->sum[line * series->plane.x.length + i].count)
            return true;
    return false;
}

static bool has_diverged(const struct series *series, int64_t line)
{
    for (int64_t i = 0; i < series->plane.x.length; i++)
        if (series->sum[line * series->plane.x.length + i].diverged_count)
            return !has_others(series, line);
    return false;
}

/* Means over the runs that have not diverged; over those that have where a line has no others. */
static void average(struct series *series)
{
    for (int64_t line = 0; line < series->plane.y.length; line++) {
        bool diverged = has_diverged(series, line);
        for (int64_t i = 0; i < series->plane.x.length; i++) {
            int64_t cell = line * series->plane.x.length + i;
            const struct sum *sum = &series->sum[cell];
            int64_t count = diverged ? sum->diverged_count : sum->count;
            series->mean[cell] = count ? (diverged ? sum->diverged : sum->sum) / (double)count : NAN;
        }
    }
}

static bool allocate(struct series *series)
{
    size_t cells = (size_t)cell_count(series), runs = (size_t)series->picture->view->cells;

    series->outcome = malloc(runs);
    series->seen = calloc(runs, sizeof(*series->seen));
    series->sum = calloc(cells, sizeof(*series->sum));
    series->mean = malloc(cells * sizeof(*series->mean));
    series->step = malloc((size_t)series->plane.x.length * sizeof(*series->step));
    return series->outcome && series->seen && series->sum && series->mean && series->step;
}

static void release(struct series *series)
{
    free(series->outcome);
    free(series->seen);
    free(series->sum);
    free(series->mean);
    free(series->step);
}

static int read_and_reduce(
    struct series *series, const struct view_variable *variable, double *values, struct error *error)
{
    const struct dimension *step = &series->shape.dimension[series->plane.x.dimension];
    int64_t inner = shape_values_a_run(&series->shape, series->picture->view);

    if (view_outcomes(series->picture->view, series->outcome, error) != 0 ||
        view_read(series->picture->view, variable, values, error) != 0)
        return -1;
    for (int64_t i = 0; i < series->shape.size; i++)
        add(series, i, inner ? i / inner : -1, values[i]);
    for (int64_t i = 0; i < step->length; i++)
        series->step[series->plane.x.place[i]] = step->number[i];
    average(series);
    return 0;
}

static int64_t runs_seen(const struct series *series, enum outcome outcome)
{
    int64_t count = 0;

    for (int64_t i = 0; i < series->picture->view->cells; i++)
        count += series->seen[i] && series->outcome[i] == (signed char)outcome;
    return count;
}

/* What is not to be seen in the lines themselves. */
static void draw_notes(const struct series *series, int drawn)
{
    FILE *out = series->picture->out;
    int columns = series->picture->terminal.columns;
    const struct side *side = &series->plane.y;
    char others[PLANE_NAMES];
    int64_t diverged = runs_seen(series, OUTCOME_DIVERGED), running = runs_seen(series, OUTCOME_RUNNING);

    for (int64_t line = 0; line < side->length; line++)
        if (has_diverged(series, line))
            diverged = 0;
    if (drawn < side->length)
        lines_print(out, columns, "%d of %lld values of %s", drawn, (long long)side->length, side->axis.name);
    plane_others(&series->plane, NULL, others, sizeof(others));
    if (others[0])
        lines_print(
            out, columns, "mean over %s%s", others, diverged ? ", without the runs that diverged" : "");
    if (running)
        lines_print(
            out, columns, "%lld of the runs %s not ended", (long long)running, running == 1 ? "has" : "have");
    if (series->infinite)
        lines_print(out, columns, "infinite values are left out");
}

static int draw(const struct series *series, struct error *error)
{
    const struct picture *picture = series->picture;
    const struct side *x = &series->plane.x, *y = &series->plane.y;
    struct chart chart = {.out = picture->out,
        .terminal = picture->terminal,
        .beside = PICTURE_BESIDE + 1,
        .x_name = x->axis.name,
        .count = x->length,
        .x = series->step,
        .legend = y->axis.name,
        .line_count = y->length < CHART_LINES_MOST ? (int)y->length : CHART_LINES_MOST};

    for (int i = 0; i < chart.line_count; i++) {
        int64_t line = plot_pick(i, chart.line_count, y->length);
        bool diverged = has_diverged(series, line);
        chart.line[i] = (struct chart_line){.y = series->mean + line * x->length, .beyond = diverged};
        snprintf(
            chart.line[i].label, CHART_LABEL, "%s%s", y->axis.label[line], diverged ? " (diverged)" : "");
    }
    picture_title(picture, series->name, &series->shape);
    if (chart_draw(&chart) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
    draw_notes(series, chart.line_count);
    return 0;
}

static int read_and_draw(struct series *series, const struct view_variable *variable, struct error *error)
{
    double *values = malloc((size_t)variable->size * sizeof(*values));
    int result = -1;

    if (!allocate(series) || !values)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", series->picture->view->name);
    else if (read_and_reduce(series, variable, values, error) == 0)
        result = draw(series, error);
    free(values);
    release(series);
    return result;
}

int picture_series(const struct picture *picture, const char *name, struct error *error)
{
    struct series series = {.picture = picture, .name = name};
    struct view_variable variable;
    int result = -1;

    if (picture_find(picture, name, &variable, error) != 0 ||
        shape_of_variable(&series.shape, picture->view, &variable, error) != 0)
        return -1;
    if (choose(&series, error) == 0) {
        result = read_and_draw(&series, &variable, error);
        plane_release(&series.plane);
    }
    shape_release(&series.shape);
    return result;
}
