/* normsweep show: the phase diagram, or any variable, as characters. */
#include "driver/commands.h"
#include "driver/layout.h"
#include "driver/plane.h"
#include "driver/plot.h"
#include "driver/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_WIDTH = 10, NAMES = 512 };

/* How a cell of the diagram is drawn; the first that applies. */
enum mark {
    MARK_GROWING,
    MARK_SHRINKING,
    MARK_DIVERGED,
    MARK_ENDED,
    MARK_FAILED,
    MARK_RUNNING,
    MARK_PENDING,
    MARK_SKIPPED,
    MARK_COUNT,
};

static const struct {
    char character;
    const char *colour, *word;
} marks[MARK_COUNT] = {
    [MARK_GROWING] = {'#', "33", "growing"},
    [MARK_SHRINKING] = {'-', "34", "shrinking"},
    [MARK_DIVERGED] = {'!', "31", "diverged"},
    [MARK_ENDED] = {'o', NULL, "done, no norms measured"},
    [MARK_FAILED] = {'x', "35", "failed"},
    [MARK_RUNNING] = {'>', "32", "running"},
    [MARK_PENDING] = {'.', "2", "pending"},
    [MARK_SKIPPED] = {' ', NULL, "skipped"},
};

/* The runs that fall into one cell of the diagram. */
struct tally {
    int64_t outcome[OUTCOME_COUNT];
    int64_t count; /* of done runs with a norm_growth */
    double growth; /* their sum */
};

struct diagram {
    struct plot plot;
    struct plane plane;
    struct tally *tally; /* [y][x] as drawn */
    bool used[MARK_COUNT];
};

static enum mark mark_of(const struct tally *tally)
{
    int64_t ended = tally->outcome[OUTCOME_DONE] + tally->outcome[OUTCOME_DIVERGED];

    if (2 * tally->outcome[OUTCOME_DIVERGED] > ended)
        return MARK_DIVERGED;
    if (tally->count)
        return tally->growth / (double)tally->count > 1 ? MARK_GROWING : MARK_SHRINKING;
    if (ended)
        return tally->outcome[OUTCOME_DIVERGED] ? MARK_DIVERGED : MARK_ENDED;
    if (tally->outcome[OUTCOME_FAILED])
        return MARK_FAILED;
    if (tally->outcome[OUTCOME_RUNNING])
        return MARK_RUNNING;
    return tally->outcome[OUTCOME_PENDING] ? MARK_PENDING : MARK_SKIPPED;
}

static void fill_cell(FILE *out, char character, int width)
{
    for (int i = 0; i < width; i++)
        fputc(width > 2 && i == width - 1 ? ' ' : character, out);
}

static void draw_mark(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    struct diagram *diagram = context;
    enum mark mark = mark_of(&diagram->tally[y * diagram->plane.x.length + x]);

    diagram->used[mark] = true;
    plot_colour(&diagram->plot, marks[mark].colour);
    fill_cell(out, marks[mark].character, width);
    plot_colour(&diagram->plot, NULL);
}

static void draw_legend(const struct diagram *diagram)
{
    const char *gap = "";

    for (int i = 0; i < MARK_COUNT; i++) {
        if (!diagram->used[i])
            continue;
        fputs(gap, diagram->plot.out);
        plot_colour(&diagram->plot, marks[i].colour);
        fprintf(diagram->plot.out, "%c", marks[i].character == ' ' ? '_' : marks[i].character);
        plot_colour(&diagram->plot, NULL);
        fprintf(diagram->plot.out, " %s%s", marks[i].word, i == MARK_SKIPPED ? " (blank)" : "");
        gap = "   ";
    }
    fputc('\n', diagram->plot.out);
}

static int no_memory(const struct view *view, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
}

/* norm_growth of every run [cells], NaN where it is not measured; NULL: error. */
static double *read_growth(const struct view *view, struct error *error)
{
    double *growth = malloc((size_t)view->cells * sizeof(*growth));
    struct view_variable variable;

    if (!growth) {
        no_memory(view, error);
        return NULL;
    }
    for (int64_t cell = 0; cell < view->cells; cell++)
        growth[cell] = NAN;
    if (view_find(view, metric_table[METRIC_norm_growth].name, &variable) && variable.size == view->cells &&
        view_read(view, &variable, growth, error) != 0) {
        free(growth);
        return NULL;
    }
    return growth;
}

static int tally_runs(struct diagram *diagram, const struct view *view, struct error *error)
{
    const struct plane *plane = &diagram->plane;
    signed char *outcome = malloc((size_t)view->cells);
    double *growth = outcome ? read_growth(view, error) : NULL;

    diagram->tally = calloc((size_t)(plane->x.length * plane->y.length), sizeof(*diagram->tally));
    int result = !outcome || !diagram->tally ? no_memory(view, error) : growth ? 0 : -1;
    if (result == 0)
        result = view_outcomes(view, outcome, error);
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++) {
        struct tally *tally = &diagram->tally[plane_cell(plane, cell)];
        tally->outcome[outcome[cell]]++;
        if (outcome[cell] == OUTCOME_DONE && isfinite(growth[cell])) {
            tally->count++;
            tally->growth += growth[cell];
        }
    }
    free(outcome);
    free(growth);
    return result;
}

static void draw_title(const struct plot *plot, const struct view *view, const char *what)
{
    char *title = view_text(view, "title");

    fprintf(plot->out, "%s: %s%s%s\n", view->name, what, title ? ": " : "", title ? title : "");
    free(title);
}

static void draw_diagram(struct diagram *diagram, const struct view *view)
{
    char others[NAMES];

    diagram->plot.x = diagram->plane.x.axis;
    diagram->plot.y = diagram->plane.y.axis;
    diagram->plot.context = diagram;
    diagram->plot.cell = draw_mark;
    draw_title(&diagram->plot, view, "phase diagram");
    plot_draw(&diagram->plot);
    draw_legend(diagram);
    plane_others(&diagram->plane, NULL, others, sizeof(others));
    if (others[0])
        fprintf(diagram->plot.out,
            "by the mean of norm_growth over %s; diverged where most of the ended runs are\n", others);
}

static int show_diagram(const struct view *view, struct error *error)
{
    struct diagram diagram = {0};
    struct view_variable outcome;

    plot_init(&diagram.plot, stdout);
    if (!view_find(view, run_variable_table[RUN_VARIABLE_outcome].name, &outcome))
        return error_set(error, ERROR_INPUT, "%s: is no dataset of " PROGRAM, view->name);
    if (plane_init(&diagram.plane, view, &outcome, error) != 0)
        return -1;
    int result = tally_runs(&diagram, view, error);
    if (result == 0)
        draw_diagram(&diagram, view);
    free(diagram.tally);
    plane_release(&diagram.plane);
    return result;
}

/* A variable over a plane. */
struct field {
    struct plot plot;
    struct plane plane;
    double *mean; /* [y][x] as drawn, NaN where there is nothing */
    double low, high;
    bool logarithmic; /* shades */
};

/* Keeps the last value along `step`, NaNs aside: at its place 0. The others become NaN. */
static void keep_last_step(const struct view_variable *variable, int step, double *values)
{
    int64_t inner = 1;

    for (int i = step + 1; i < variable->dimension_count; i++)
        inner *= variable->length[i];
    int64_t steps = variable->length[step], outer = variable->size / (steps * inner);
    for (int64_t i = 0; i < outer * inner; i++) {
        double *first = values + i / inner * steps * inner + i % inner, last = NAN;
        for (int64_t j = 0; j < steps; j++) {
            last = isnan(first[j * inner]) ? last : first[j * inner];
            first[j * inner] = NAN;
        }
        *first = last;
    }
}

/* The `step` dimension where it is not drawn, or -1. */
static int hidden_step(const struct plane *plane)
{
    for (int i = 0; i < plane->variable.dimension_count; i++)
        if (strcmp(plane->variable.dimension[i], STEP_DIMENSION) == 0 && i != plane->x.dimension &&
            i != plane->y.dimension && plane->variable.length[i] > 1)
            return i;
    return -1;
}

static void average(struct field *field, const double *values, int64_t *count)
{
    int64_t cells = field->plane.x.length * field->plane.y.length;

    for (int64_t i = 0; i < field->plane.variable.size; i++) {
        int64_t cell = plane_cell(&field->plane, i);
        if (isnan(values[i]))
            continue;
        field->mean[cell] += values[i];
        count[cell]++;
    }
    field->low = INFINITY;
    field->high = -INFINITY;
    for (int64_t i = 0; i < cells; i++) {
        field->mean[i] = count[i] ? field->mean[i] / (double)count[i] : NAN;
        field->low = fmin(field->low, field->mean[i]);
        field->high = fmax(field->high, field->mean[i]);
    }
    field->logarithmic = field->low > 0 && field->high > 100 * field->low;
}

static int reduce(struct field *field, const struct view *view, struct error *error)
{
    const struct plane *plane = &field->plane;
    size_t cells = (size_t)(plane->x.length * plane->y.length);
    double *values = malloc((size_t)plane->variable.size * sizeof(*values));
    int64_t *count = calloc(cells, sizeof(*count));

    field->mean = calloc(cells, sizeof(*field->mean));
    int result = values && count && field->mean ? view_read(view, &plane->variable, values, error)
                                                : no_memory(view, error);
    if (result == 0) {
        if (hidden_step(plane) >= 0)
            keep_last_step(&plane->variable, hidden_step(plane), values);
        average(field, values, count);
    }
    free(values);
    free(count);
    return result;
}

static void draw_number(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    const struct field *field = context;
    double value = field->mean[y * field->plane.x.length + x];
    char text[32];

    snprintf(text, sizeof(text), isnan(value) ? "." : "%.4g", value);
    fprintf(out, "%-*s", width, text);
}

static const char shades[] = ".:-=+*#%@";

static double on_scale(const struct field *field, double value)
{
    return field->logarithmic ? log(value) : value;
}

static void draw_shade(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    const struct field *field = context;
    double value = field->mean[y * field->plane.x.length + x];
    double low = on_scale(field, field->low), high = on_scale(field, field->high);
    int levels = (int)sizeof(shades) - 1, level = 0;

    if (isfinite(high - low) && high > low && !isnan(value))
        level = (int)((on_scale(field, value) - low) / (high - low) * levels);
    level = level < levels ? level : levels - 1;
    fill_cell(out, isnan(value) ? ' ' : shades[level], width);
}

/* Numbers where they fit, else shades. */
static void draw_field(struct field *field, const struct view *view, const char *name)
{
    char others[NAMES];
    struct plot *plot = &field->plot;

    plot->x = field->plane.x.axis;
    plot->y = field->plane.y.axis;
    plot->context = field;
    plot->most = NUMBER_WIDTH + 2;
    bool numbers = plot_cell_width(plot) >= NUMBER_WIDTH;
    plot->most = numbers ? plot->most : 6;
    plot->cell = numbers ? draw_number : draw_shade;
    draw_title(plot, view, name);
    if (plot->x.name)
        plot_draw(plot);
    else
        fprintf(plot->out, "%.6g\n", field->mean[0]);
    if (!numbers && field->low <= field->high)
        fprintf(plot->out, "%c %.4g to %c %.4g%s, blank: nothing\n", shades[0], field->low,
            shades[sizeof(shades) - 2], field->high, field->logarithmic ? ", logarithmic" : "");
    if (hidden_step(&field->plane) >= 0)
        fputs("at the last step that has a value\n", plot->out);
    plane_others(&field->plane, STEP_DIMENSION, others, sizeof(others));
    if (others[0])
        fprintf(plot->out, "mean over %s\n", others);
}

static int refuse_variable(const struct view *view, const char *name, struct error *error)
{
    char *names = view_names(view);

    error_set(error, ERROR_INPUT, "%s: no variable %s; there are %s", view->name, name, names ? names : "");
    free(names);
    return -1;
}

static int show_variable(const struct view *view, const char *name, struct error *error)
{
    struct field field = {0};
    struct view_variable variable;

    plot_init(&field.plot, stdout);
    if (!view_find(view, name, &variable))
        return refuse_variable(view, name, error);
    if (plane_init(&field.plane, view, &variable, error) != 0)
        return -1;
    int result = reduce(&field, view, error);
    if (result == 0)
        draw_field(&field, view, name);
    free(field.mean);
    plane_release(&field.plane);
    return result;
}

int command_show(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    struct view view;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    status = view_open(&view, arguments.operand[0], &error);
    if (status == 0) {
        status = arguments.operand_count > 1 ? show_variable(&view, arguments.operand[1], &error)
                                             : show_diagram(&view, &error);
        view_close(&view);
    }
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
