/* The phase diagram: growing, shrinking and diverged cells, told apart by characters and not by colour alone.
 */
#include "driver/picture.h"

#include "driver/dataset_tables.h"
#include "driver/plane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static void draw_mark(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    struct diagram *diagram = context;
    enum mark mark = mark_of(&diagram->tally[y * diagram->plane.x.length + x]);

    diagram->used[mark] = true;
    plot_colour(&diagram->plot, marks[mark].colour);
    plot_fill(out, marks[mark].character, width);
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

/* norm_growth of every run [cells], NaN where it is not measured. */
static int read_growth(const struct view *view, double *growth, struct error *error)
{
    struct view_variable variable;

    for (int64_t cell = 0; cell < view->cells; cell++)
        growth[cell] = NAN;
    if (!view_find(view, metric_table[METRIC_norm_growth].name, &variable) || variable.size != view->cells)
        return 0;
    return view_read(view, &variable, growth, error);
}

static void tally_run(struct tally *tally, enum outcome outcome, double growth)
{
    tally->outcome[outcome]++;
    if (outcome != OUTCOME_DONE || !isfinite(growth))
        return;
    tally->count++;
    tally->growth += growth;
}

static int tally_runs(struct diagram *diagram, const struct view *view, struct error *error)
{
    const struct plane *plane = &diagram->plane;
    signed char *outcome = malloc((size_t)view->cells);
    double *growth = malloc((size_t)view->cells * sizeof(*growth));
    int result = -1;

    diagram->tally = calloc((size_t)(plane->x.length * plane->y.length), sizeof(*diagram->tally));
    if (!outcome || !growth || !diagram->tally)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    else if (view_outcomes(view, outcome, error) == 0 && read_growth(view, growth, error) == 0) {
        for (int64_t cell = 0; cell < view->cells; cell++)
            tally_run(&diagram->tally[plane_cell(plane, cell)], (enum outcome)outcome[cell], growth[cell]);
        result = 0;
    }
    free(outcome);
    free(growth);
    return result;
}

static void draw_diagram(struct diagram *diagram, const struct view *view)
{
    char others[PLANE_NAMES];

    diagram->plot.x = diagram->plane.x.axis;
    diagram->plot.y = diagram->plane.y.axis;
    diagram->plot.context = diagram;
    diagram->plot.cell = draw_mark;
    plane_title(diagram->plot.out, view, "phase diagram");
    plot_draw(&diagram->plot);
    draw_legend(diagram);
    plane_others(&diagram->plane, NULL, others, sizeof(others));
    if (others[0])
        fprintf(diagram->plot.out,
            "by the mean of norm_growth over %s; diverged where most of the ended runs are\n", others);
}

int diagram_show(const struct view *view, struct error *error)
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
