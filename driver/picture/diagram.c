/* The phase diagram: cells painted by how much their norms grew or shrank, or, without 256 colours, one
 * character per state. */
#include "driver/picture/diagram.h"

#include "driver/tables/dataset_tables.h"
#include "driver/terminal/colour.h"
#include "driver/terminal/colour_scale.h"
#include "driver/terminal/legend.h"
#include "driver/text/lines.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a cell of the diagram is drawn. mark_of() chooses the first that applies, in its own order. */
enum mark {
    MARK_GROWING,
    MARK_SHRINKING,
    MARK_DIVERGED,
    MARK_ENDED,
    MARK_FAILED,
    MARK_RUNNING,
    MARK_PENDING,
    MARK_ABOVE,
    MARK_BELOW,
    MARK_SKIPPED,
    MARK_COUNT,
};

/* Diverged cells are hatched, because any hue could be mistaken for one of growing or shrinking. */
static const struct {
    char character;
    const char *code;
    int colour, hatch;
    const char *word;
} marks[MARK_COUNT] = {
    [MARK_GROWING] = {'#', "33", COLOUR_NONE, COLOUR_NONE, "growing"},
    [MARK_SHRINKING] = {'-', "35", COLOUR_NONE, COLOUR_NONE, "shrinking"},
    [MARK_DIVERGED] = {'!', "31", COLOUR_BLACK, 250, "diverged"},
    [MARK_ENDED] = {'o', "36", 32, COLOUR_NONE, "done, no norms measured"},
    [MARK_FAILED] = {'x', "1;31", 160, COLOUR_WHITE, "failed"},
    [MARK_RUNNING] = {'>', "32", 36, COLOUR_NONE, "running"},
    [MARK_PENDING] = {'.', "2", 244, COLOUR_NONE, "pending"},
    [MARK_ABOVE] = {'+', "33", COLOUR_NONE, COLOUR_NONE, "growing, not trained"},
    [MARK_BELOW] = {'=', "35", COLOUR_NONE, COLOUR_NONE, "shrinking, not trained"},
    [MARK_SKIPPED] = {' ', NULL, COLOUR_NONE, COLOUR_NONE, "skipped"},
};

/* Colours, from -1 to 1, of growth and shrinkage by an unknown amount, and where a search implies it. */
#define CLEARLY 0.5
#define FAINTLY 0.12

static void take_mark(enum mark mark, struct plot_cell *cell)
{
    cell->fill = marks[mark].character;
    cell->code = marks[mark].code;
    cell->colour = marks[mark].colour;
    cell->hatch = marks[mark].hatch;
    if (mark == MARK_ABOVE || mark == MARK_BELOW)
        cell->colour = colour_diverging(mark == MARK_ABOVE ? FAINTLY : -FAINTLY);
}

bool diagram_cell(const char *word, struct plot_cell *cell)
{
    for (enum mark mark = 0; mark < MARK_COUNT; mark++) {
        size_t length = strcspn(marks[mark].word, ",");
        if (strlen(word) != length || strncmp(marks[mark].word, word, length) != 0)
            continue;
        take_mark(mark, cell);
        if (mark == MARK_GROWING || mark == MARK_SHRINKING)
            cell->colour = colour_diverging(mark == MARK_GROWING ? CLEARLY : -CLEARLY);
        return true;
    }
    return false;
}

/* Sums over the runs of one cell of the diagram. */
struct cell_tally {
    int64_t outcome[OUTCOME_COUNT];
    int64_t count; /* of done runs with a positive norm_growth */
    int64_t growing, shrinking; /* skipped cells that a search takes for such */
    double log_growth; /* sum of its logarithms: norm_growth is a ratio, so halving and doubling cancel */
};

static enum mark mark_of(const struct cell_tally *tally, bool live)
{
    int64_t ended = tally->outcome[OUTCOME_DONE] + tally->outcome[OUTCOME_DIVERGED];

    if (live && tally->outcome[OUTCOME_RUNNING])
        return MARK_RUNNING;
    if (2 * tally->outcome[OUTCOME_DIVERGED] > ended)
        return MARK_DIVERGED;
    if (tally->count)
        return tally->log_growth > 0 ? MARK_GROWING : MARK_SHRINKING;
    if (ended)
        return tally->outcome[OUTCOME_DIVERGED] ? MARK_DIVERGED : MARK_ENDED;
    if (tally->outcome[OUTCOME_FAILED])
        return MARK_FAILED;
    if (tally->outcome[OUTCOME_RUNNING])
        return MARK_RUNNING;
    if (tally->outcome[OUTCOME_PENDING])
        return MARK_PENDING;
    if (tally->growing == 0 && tally->shrinking == 0)
        return MARK_SKIPPED;
    return tally->growing > tally->shrinking ? MARK_ABOVE : MARK_BELOW;
}

struct diagram {
    struct plot plot;
    const struct plane *plane;
    const struct panels *panels; /* NULL: a single one, with the mean of all runs */
    bool live; /* see struct diagram_runs */
    struct cell_tally *tally; /* [panels][y][x] as drawn */
    const struct cell_tally *drawn; /* the panel that is drawn */
    int64_t used[MARK_COUNT]; /* number of cells with each mark */
    int64_t fewer; /* cells that have runs, but fewer than others because some are skipped */
    struct colour_scale scale; /* of growth, the same for all panels */
};

static int panel_count(const struct diagram *diagram)
{
    return diagram->panels ? diagram->panels->count : 1;
}

static int64_t cell_count(const struct diagram *diagram)
{
    return diagram->plane->x.length * diagram->plane->y.length;
}

static double log_growth(const struct cell_tally *tally)
{
    return tally->log_growth / (double)tally->count;
}

static void paint_mark(
    const struct diagram *diagram, enum mark mark, const struct cell_tally *tally, struct plot_cell *cell)
{
    take_mark(mark, cell);
    if (mark != MARK_SHRINKING && mark != MARK_GROWING)
        return;
    double place = 2 * colour_scale_place(&diagram->scale, exp(log_growth(tally))) - 1;
    cell->colour = colour_diverging(mark == MARK_GROWING ? fmax(place, DBL_MIN) : fmin(place, 0));
}

static void draw_mark(void *context, int64_t x, int64_t y, struct plot_cell *cell)
{
    const struct diagram *diagram = context;
    const struct cell_tally *tally = &diagram->drawn[y * diagram->plane->x.length + x];
    enum mark mark = mark_of(tally, diagram->live);

    paint_mark(diagram, mark, tally, cell);
    if (!diagram->plot.terminal.unicode)
        snprintf(cell->text, sizeof(cell->text), "%c", marks[mark].character);
}

enum { BAR_LEVELS = 5, BAR_TICK = 2 }; /* colours on either side, and after which of them a number stands */

/* The number at the end of colour `i`, from the middle. */
static void draw_tick(const struct diagram *diagram, int i, FILE *out)
{
    fprintf(out, " %.3g ", colour_scale_value(&diagram->scale, 0.5 + 0.5 * i / BAR_LEVELS));
}

/* "shrinking 0.2 VVV 0.8 vv 1 oo 1.2 OOO 5 growing"; on a narrow terminal the words get a line of their own,
 * and the inner numbers are left out. */
static void draw_bar(const struct diagram *diagram, FILE *out)
{
    const struct colour_scale *scale = &diagram->scale;
    struct pen pen = PEN(out);
    char low[32], high[32];

    snprintf(low, sizeof(low), "%s%.3g ", scale->below ? "below " : "", scale->low);
    snprintf(high, sizeof(high), " %s%.3g", scale->above ? "above " : "", scale->high);
    size_t width = strlen("shrinking  growing") + strlen(low) + strlen(high) + 4 * BAR_LEVELS + 3 * 8;
    bool narrow = width > (size_t)diagram->plot.terminal.columns;
    fprintf(out, "%s%s", narrow ? "shrinking, growing\n" : "shrinking ", low);
    for (int i = -BAR_LEVELS; i < BAR_LEVELS; i++) {
        if (!narrow && (i == -BAR_TICK || i == 0 || i == BAR_TICK)) {
            pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
            draw_tick(diagram, i, out);
        }
        pen_take(&pen, COLOUR_NONE, colour_diverging((i + 0.5) / BAR_LEVELS));
        fputs(narrow ? " " : "  ", out);
    }
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fprintf(out, "%s%s\n", high, narrow ? "" : " growing");
}

/* A bar for marks that are painted on a scale, samples for all others. */
static void draw_legend(const struct diagram *diagram, FILE *out)
{
    bool scaled =
        plot_is_painted(&diagram->plot) && diagram->used[MARK_GROWING] + diagram->used[MARK_SHRINKING];
    struct legend legend = {.out = out, .terminal = &diagram->plot.terminal};

    if (scaled)
        draw_bar(diagram, out);
    for (enum mark mark = scaled ? MARK_DIVERGED : MARK_GROWING; mark < MARK_COUNT; mark++) {
        struct plot_cell cell;
        take_mark(mark, &cell);
        if (diagram->used[mark])
            legend_add(&legend, &cell, mark == MARK_SKIPPED ? "skipped (blank)" : marks[mark].word);
    }
    legend_end(&legend);
}

static void draw_note(const struct diagram *diagram, FILE *out)
{
    const struct cell_tally *first = diagram->tally;
    bool one = cell_count(diagram) == 1 && panel_count(diagram) == 1;
    char others[PLANE_NAMES];

    if (one && first->count)
        lines_print(out, diagram->plot.terminal.columns, "norm_growth %.4g, %s", exp(log_growth(first)),
            marks[mark_of(first, diagram->live)].word);
    plane_others(diagram->plane, NULL, others, sizeof(others));
    if (others[0])
        lines_print(out, diagram->plot.terminal.columns,
            "cells: geometric mean of norm_growth over %s; diverged if most ended runs diverged", others);
    if (others[0] && diagram->fewer)
        lines_print(out, diagram->plot.terminal.columns, "cells with fewer runs (skipped): %lld",
            (long long)diagram->fewer);
    if (diagram->panels)
        panels_print_rest(diagram->panels, out, diagram->plot.terminal.columns);
}

static void tally_run(struct cell_tally *tally, enum outcome outcome, double growth, double phase)
{
    tally->outcome[outcome]++;
    tally->growing += outcome == OUTCOME_SKIPPED && phase == PHASE_GROWING;
    tally->shrinking += outcome == OUTCOME_SKIPPED && phase == PHASE_SHRINKING;
    if (outcome != OUTCOME_DONE || !isfinite(growth))
        return;
    tally->count++;
    tally->log_growth += log(growth);
}

/* The runs of a cell that are not skipped. */
static int64_t runs_of(const struct cell_tally *tally)
{
    int64_t runs = 0;

    for (int i = 0; i < OUTCOME_COUNT; i++)
        runs += i == OUTCOME_SKIPPED ? 0 : tally->outcome[i];
    return runs;
}

/* The number of cells of all panels that have runs, but fewer than others. */
static int64_t count_fewer(const struct diagram *diagram)
{
    int64_t cells = cell_count(diagram) * panel_count(diagram), most = 0, fewer = 0;

    for (int64_t cell = 0; cell < cells; cell++)
        most = runs_of(&diagram->tally[cell]) > most ? runs_of(&diagram->tally[cell]) : most;
    for (int64_t cell = 0; cell < cells; cell++)
        fewer += runs_of(&diagram->tally[cell]) > 0 && runs_of(&diagram->tally[cell]) < most;
    return fewer;
}

static void tally_panel(
    const struct diagram *diagram, const struct diagram_runs *runs, struct cell_tally *tally)
{
    for (int64_t run = 0; run < runs->cells; run++) {
        int64_t cell = plane_cell(diagram->plane, run);
        if (cell >= 0)
            tally_run(&tally[cell], (enum outcome)runs->outcome[run], runs->growth ? runs->growth[run] : NAN,
                runs->phase ? runs->phase[run] : NAN);
    }
}

/* Chooses the scale for all cells that are painted on it. False: no memory. */
static bool choose_scale(struct diagram *diagram)
{
    int64_t cells = cell_count(diagram) * panel_count(diagram), count = 0;
    double *growth = malloc((size_t)cells * sizeof(*growth));

    for (int64_t cell = 0; growth && cell < cells; cell++) {
        enum mark mark = mark_of(&diagram->tally[cell], diagram->live);
        diagram->used[mark]++;
        if (mark == MARK_GROWING || mark == MARK_SHRINKING)
            growth[count++] = exp(log_growth(&diagram->tally[cell]));
    }
    bool chosen =
        growth && (count == 0 || colour_scale_choose(&diagram->scale, growth, count, NUMBERS_FACTORS));
    free(growth);
    return chosen;
}

/* False: no memory. */
static bool tally_runs(struct diagram *diagram, const struct diagram_runs *runs)
{
    for (int i = 0; i < panel_count(diagram); i++) {
        if (diagram->panels)
            panels_fix(diagram->panels, i);
        tally_panel(diagram, runs, diagram->tally + i * cell_count(diagram));
    }
    diagram->fewer = count_fewer(diagram);
    return choose_scale(diagram);
}

/* The output of `draw`, which the caller frees. NULL: no memory. */
static char *printed(const struct diagram *diagram, void (*draw)(const struct diagram *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return NULL;
    draw(diagram, memory);
    if (fclose(memory) == 0)
        return text;
    free(text);
    return NULL;
}

static void draw_cells(const struct diagram *diagram, FILE *out)
{
    struct diagram panel = *diagram;

    panel.plot.out = out;
    panel.plot.context = &panel;
    for (int i = 0; i < panel_count(diagram); i++) {
        panel.drawn = diagram->tally + i * cell_count(diagram);
        if (diagram->panels)
            panels_print_title(diagram->panels, i, out, diagram->plot.terminal.columns);
        plot_draw(&panel.plot);
    }
}

enum { ROWS_OF_CELLS = 5 }; /* with fewer lines left, first the note is dropped, then the legend */

/* Returns the number of lines; -1: no memory. */
static int draw_all(struct diagram *diagram, FILE *out, int rows, int beside)
{
    char *legend = printed(diagram, draw_legend), *note = printed(diagram, draw_note), *cells = NULL;
    int lines = -1;

    if (legend && note) {
        if (rows > 0 && rows - lines_count(legend) - lines_count(note) < ROWS_OF_CELLS)
            *note = '\0';
        if (rows > 0 && rows - lines_count(legend) - lines_count(note) < ROWS_OF_CELLS)
            *legend = '\0';
        diagram->plot.rows = rows > 0 ? rows - lines_count(legend) - lines_count(note) : 0;
        diagram->plot.beside = beside + lines_count(legend) + lines_count(note);
        cells = printed(diagram, draw_cells);
    }
    if (cells) {
        fprintf(out, "%s%s%s", cells, legend, note);
        lines = lines_count(cells) + lines_count(legend) + lines_count(note);
    }
    free(cells);
    free(legend);
    free(note);
    return lines;
}

/* The fields that all diagrams have. `panels`: NULL for a single one. Returns the number of lines. */
static int draw(FILE *out, const struct terminal *terminal, int rows, int beside, const struct plane *plane,
    const struct panels *panels, const struct diagram_runs *runs, struct error *error)
{
    struct diagram diagram = {.plane = plane, .panels = panels, .live = runs->live};
    int lines = -1;

    plot_init(&diagram.plot, out, terminal);
    diagram.plot.x = plane->x.axis;
    diagram.plot.y = plane->y.axis;
    diagram.plot.cell = draw_mark;
    diagram.tally = calloc((size_t)(cell_count(&diagram) * panel_count(&diagram)), sizeof(*diagram.tally));
    if (diagram.tally && tally_runs(&diagram, runs))
        lines = draw_all(&diagram, out, rows, beside);
    free(diagram.tally);
    return lines < 0 ? error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory") : lines;
}

int diagram_draw_panels(FILE *out, const struct terminal *terminal, int beside, const struct plane *plane,
    const struct panels *panels, const struct diagram_runs *runs, struct error *error)
{
    int lines = draw(out, terminal, 0, beside, plane, panels, runs, error);

    panels_open(panels);
    return lines < 0 ? -1 : 0;
}

int diagram_draw(FILE *out, const struct terminal *terminal, int rows, const struct diagram_runs *runs,
    struct error *error)
{
    struct shape shape;
    struct plane plane;
    int lines = -1;

    if (shape_of_axes(&shape, runs->axis_count, runs->axis, error) != 0)
        return -1;
    if (plane_init(&plane, &shape, PLANE_CHOOSE, PLANE_CHOOSE, error) == 0) {
        lines = draw(out, terminal, rows, 0, &plane, NULL, runs, error);
        plane_release(&plane);
    }
    shape_release(&shape);
    return lines;
}
