/* A variable over steps, as lines: one for each value of one axis, means over the other axes. */
#include "driver/picture/series.h"
#include "driver/dataset/variables.h"
#include "driver/dataset/view_attributes.h"
#include "driver/picture/picture.h"
#include "driver/tables/dataset_tables.h"
#include "driver/tables/nature.h"
#include "driver/terminal/chart.h"
#include "driver/text/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kind of runs that a line averages: the first kind of which it has any. Kinds are not mixed. */
enum stage { STAGE_DONE, STAGE_UNDER_WAY, STAGE_DIVERGED, STAGE_COUNT, STAGE_NONE = STAGE_COUNT };

/* Sums of finite values of a line's runs, or of their logarithms, by stage, at one step. */
struct sum {
    double sum[STAGE_COUNT];
    int64_t count[STAGE_COUNT];
};

struct series {
    const struct picture *picture;
    const char *name;
    const struct nature_row *nature;
    struct shape shape;
    struct plane plane; /* steps along x, lines along y */
    signed char *outcome; /* [cells] */
    int64_t *line; /* [cells] line of each run, the last one if it is in several; -1: not drawn */
    struct sum *sum; /* [lines][steps] */
    enum stage *stage; /* [lines] */
    double *step, *mean; /* [steps], [lines][steps] */
    int64_t infinite; /* infinite values, which are left out */
};

static int64_t cell_count(const struct series *series)
{
    return series->plane.x.length * series->plane.y.length;
}

static bool is_step(const struct dimension *dimension)
{
    return strcmp(dimension->name, metric_dimension_table[DIMENSION_STEP].name) == 0;
}

/* The dimension whose values the lines are, if --over does not name one; PLANE_NONE: a single line. */
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

/* Makes the plane of steps and lines that the selection asks for. */
static int choose(struct series *series, struct error *error)
{
    const struct picture *picture = series->picture;
    struct shape *shape = &series->shape;
    char about[PICTURE_ABOUT];
    int lines, step = shape_find(shape, metric_dimension_table[DIMENSION_STEP].name);

    snprintf(about, sizeof(about), "%s: %s", picture->view->name, series->name);
    if (step < 0)
        return error_set(
            error, ERROR_INPUT, "%s has one value per run and no steps, so --series cannot draw it", about);
    if (selection_fix(&picture->selection, shape, about, error) != 0)
        return -1;
    int count = selection_over(&picture->selection, shape, 1, &lines, about, error);
    if (count < 0)
        return -1;
    if (shape->dimension[step].fixed >= 0 || (count && lines == step))
        return error_set(
            error, ERROR_INPUT, "%s: --series draws over step, which --at and --over cannot name", about);
    return plane_init(&series->plane, shape, step, count ? lines : choose_lines(shape), error);
}

static enum stage stage_of(const struct series *series, int64_t run)
{
    if (run < 0 || series->outcome[run] == OUTCOME_DONE)
        return STAGE_DONE;
    return series->outcome[run] == OUTCOME_DIVERGED ? STAGE_DIVERGED : STAGE_UNDER_WAY;
}

static void series_add(struct series *series, int64_t index, int64_t run, double value)
{
    int64_t cell = plane_cell(&series->plane, index);

    if (cell < 0)
        return;
    if (run >= 0)
        series->line[run] = cell / series->plane.x.length;
    series->infinite += isinf(value) != 0;
    if (series->nature->geometric)
        value = log(value);
    if (!isfinite(value))
        return;
    series->sum[cell].sum[stage_of(series, run)] += value;
    series->sum[cell].count[stage_of(series, run)]++;
}

/* The largest number of values that a line has at any step: that of its runs of this stage. */
static int64_t most_values(const struct sum *sum, int64_t steps, enum stage stage)
{
    int64_t most = 0;

    for (int64_t i = 0; i < steps; i++)
        most = sum[i].count[stage] > most ? sum[i].count[stage] : most;
    return most;
}

static enum stage choose_stage(const struct sum *sum, int64_t steps)
{
    enum stage stage = STAGE_DONE;

    while (stage < STAGE_COUNT && most_values(sum, steps, stage) == 0)
        stage++;
    return stage;
}

/* Means over the runs of a line's stage. Runs under way have different lengths; only steps that all of
 * them have are averaged, so that the line does not jump where one ends. */
static void series_average(struct series *series)
{
    int64_t steps = series->plane.x.length;
    bool geometric = series->nature->geometric;

    for (int64_t line = 0; line < series->plane.y.length; line++) {
        const struct sum *sum = series->sum + line * steps;
        enum stage stage = series->stage[line] = choose_stage(sum, steps);
        int64_t least = stage == STAGE_UNDER_WAY ? most_values(sum, steps, stage) : 1;
        for (int64_t i = 0; i < steps; i++) {
            bool counts = stage < STAGE_COUNT && sum[i].count[stage] >= least;
            double mean = counts ? sum[i].sum[stage] / (double)sum[i].count[stage] : NAN;
            series->mean[line * steps + i] = geometric ? exp(mean) : mean;
        }
    }
}

static bool allocate(struct series *series)
{
    size_t cells = (size_t)cell_count(series), runs = (size_t)series->picture->view->cells;

    series->outcome = malloc(runs);
    series->line = malloc(runs * sizeof(*series->line));
    series->sum = calloc(cells, sizeof(*series->sum));
    series->stage = malloc((size_t)series->plane.y.length * sizeof(*series->stage));
    series->mean = malloc(cells * sizeof(*series->mean));
    series->step = malloc((size_t)series->plane.x.length * sizeof(*series->step));
    return series->outcome && series->line && series->sum && series->stage && series->mean && series->step;
}

static void series_release(struct series *series)
{
    free(series->outcome);
    free(series->line);
    free(series->sum);
    free(series->stage);
    free(series->mean);
    free(series->step);
}

static int read_and_reduce(
    struct series *series, const struct view_variable *variable, double *values, struct error *error)
{
    const struct dimension *step = &series->shape.dimension[series->plane.x.dimension];
    int64_t inner = shape_values_a_run(&series->shape, series->picture->view);

    if (view_known_outcomes(series->picture->view, series->outcome, error) != 0 ||
        view_read(series->picture->view, variable, values, error) != 0)
        return -1;
    for (int64_t i = 0; i < series->picture->view->cells; i++)
        series->line[i] = -1;
    for (int64_t i = 0; i < series->shape.size; i++)
        series_add(series, i, inner ? i / inner : -1, values[i]);
    for (int64_t i = 0; i < step->length; i++)
        series->step[series->plane.x.place[i]] = step->number[i];
    series_average(series);
    return 0;
}

/* Diverged runs that are left out of their lines. */
static int64_t runs_without(const struct series *series)
{
    int64_t count = 0;

    for (int64_t i = 0; i < series->picture->view->cells; i++)
        count += series->line[i] >= 0 && series->outcome[i] == OUTCOME_DIVERGED &&
                 series->stage[series->line[i]] != STAGE_DIVERGED;
    return count;
}

static void note_unended(const struct series *series)
{
    int64_t unended = 0, all = 0;

    for (int64_t i = 0; i < series->picture->view->cells; i++) {
        signed char outcome = series->outcome[i];
        if (series->line[i] < 0 || outcome == OUTCOME_SKIPPED)
            continue;
        unended += outcome == OUTCOME_RUNNING || outcome == OUTCOME_PENDING;
        all++;
    }
    if (unended)
        lines_print(series->picture->out, series->picture->terminal.columns, "%lld of %lld runs %s not ended",
            (long long)unended, (long long)all, unended == 1 ? "has" : "have");
}

/* "weight_decay (7 values), seed (3 values)": what the lines average over; "": nothing. */
static void list_averaged(const struct series *series, char text[PLANE_NAMES])
{
    const struct plane *plane = &series->plane;
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < series->shape.count && used < PLANE_NAMES; i++) {
        const struct dimension *dimension = &series->shape.dimension[i];
        if (dimension_is_open(dimension) && i != plane->x.dimension && i != plane->y.dimension)
            used += (size_t)snprintf(text + used, PLANE_NAMES - used, "%s%s (%lld values)", used ? ", " : "",
                dimension->name, (long long)dimension->length);
    }
}

/* Says which mean over what a line is. Lines of other runs than those that are done say so themselves. */
static void draw_heading(const struct series *series)
{
    char averaged[PLANE_NAMES], without[64] = "";
    int64_t diverged = runs_without(series);
    bool done = false;

    list_averaged(series, averaged);
    for (int64_t line = 0; line < series->plane.y.length; line++)
        done = done || series->stage[line] == STAGE_DONE;
    if (diverged)
        snprintf(without, sizeof(without), ", without %lld run%s that diverged", (long long)diverged,
            diverged == 1 ? "" : "s");
    if (averaged[0])
        lines_print(series->picture->out, series->picture->terminal.columns,
            "each line: %s mean over %s%s%s; --at chooses one value",
            series->nature->geometric ? "geometric" : "arithmetic", averaged,
            done ? " of the runs that are done" : "", without);
}

/* Notes on what the lines leave out. */
static void draw_notes(const struct series *series, int drawn)
{
    FILE *out = series->picture->out;
    int columns = series->picture->terminal.columns;
    const struct side *side = &series->plane.y;

    if (drawn < side->length && side->axis.name)
        lines_print(out, columns, "%d of %lld values of %s", drawn, (long long)side->length, side->axis.name);
    note_unended(series);
    if (series->infinite)
        lines_print(out, columns, "infinite values are left out");
}

/* The only step with values; -1: there are several, or none. */
static int64_t only_step(const struct series *series)
{
    int64_t only = -1;

    for (int64_t i = 0; i < cell_count(series); i++) {
        int64_t step = i % series->plane.x.length;
        if (isnan(series->mean[i]) || step == only)
            continue;
        if (only >= 0)
            return -1;
        only = step;
    }
    return only;
}

/* Chooses lines with values, evenly spaced if there are more than a chart holds. */
static void choose_drawn(const struct series *series, struct chart *chart)
{
    static const char *const suffix[] = {
        [STAGE_DONE] = "", [STAGE_UNDER_WAY] = " (under way)", [STAGE_DIVERGED] = " (diverged)"};
    const struct side *x = &series->plane.x, *y = &series->plane.y;
    int64_t count = 0, place = 0;

    for (int64_t line = 0; line < y->length; line++)
        count += series->stage[line] != STAGE_NONE;

    chart->line_count = count < CHART_LINES_MOST ? (int)count : CHART_LINES_MOST;
    for (int64_t line = 0, i = 0; line < y->length && i < chart->line_count; line++) {
        enum stage stage = series->stage[line];
        if (stage == STAGE_NONE || place++ != plot_pick(i, chart->line_count, count))
            continue;
        struct chart_line *drawn = &chart->line[i++];
        *drawn = (struct chart_line){.y = series->mean + line * x->length, .beyond = stage == STAGE_DIVERGED};
        snprintf(drawn->label, CHART_LABEL, "%s%s", y->axis.label[line], suffix[stage]);
    }
}

static int draw_lines(const struct series *series, struct error *error)
{
    const struct picture *picture = series->picture;
    struct chart chart = {.out = picture->out,
        .terminal = picture->terminal,
        .beside = PICTURE_BESIDE + 1,
        .x_name = series->plane.x.axis.name,
        .count = series->plane.x.length,
        .x = series->step,
        .legend = series->plane.y.axis.name,
        .linear = series->nature->linear};

    choose_drawn(series, &chart);
    if (chart_draw(&chart) != 0)
        return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
    draw_notes(series, chart.line_count);
    return 0;
}

static int draw_chart(const struct series *series, struct error *error)
{
    const struct picture *picture = series->picture;
    int64_t only = only_step(series);

    picture_title(picture, series->name, &series->shape);
    if (only < 0) {
        draw_heading(series);
        return draw_lines(series, error);
    }
    lines_print(picture->out, picture->terminal.columns,
        "measured at step %.15g only; the keys measure and validate set when", series->step[only]);
    note_unended(series);
    return 0;
}

static int read_and_draw(struct series *series, const struct view_variable *variable, struct error *error)
{
    double *values = malloc((size_t)variable->size * sizeof(*values));
    int result = -1;

    if (!allocate(series) || !values)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", series->picture->view->name);
    else if (read_and_reduce(series, variable, values, error) == 0)
        result = draw_chart(series, error);
    free(values);
    series_release(series);
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
    char *word = view_variable_text(picture->view, &variable, METRIC_NATURE);
    series.nature = nature_of(name, word);
    free(word);
    if (choose(&series, error) == 0) {
        result = read_and_draw(&series, &variable, error);
        plane_release(&series.plane);
    }
    shape_release(&series.shape);
    return result;
}
