/* Functions that all pictures of a dataset use, and the phase diagram of a dataset. */
#include "driver/picture/picture.h"

#include "driver/dataset/variables.h"
#include "driver/dataset/view_attributes.h"
#include "driver/picture/diagram.h"
#include "driver/tables/dataset_tables.h"
#include "driver/text/lines.h"
#include "driver/text/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void picture_title(const struct picture *picture, const char *what, const struct shape *shape)
{
    char *title = view_text(picture->view, ATTRIBUTE_SWEEP_TITLE), fixed[PLANE_NAMES];

    lines_print(picture->out, picture->terminal.rows ? picture->terminal.columns : 0, "%s: %s%s%s%s",
        picture->view->name, what, plane_fixed(shape, fixed, sizeof(fixed)), title ? ": " : "",
        title ? title : "");
    free(title);
}

static void offer_name(const struct view *view, struct nearest *nearest, const char *name)
{
    struct view_variable variable;

    if (view_find(view, name, &variable))
        nearest_offer(nearest, name);
}

/* A metric that the sweep did not measure. */
static int refuse_metric(const struct view *view, enum metric metric, struct error *error)
{
    const char *word = metric_group_names[metric_table[metric].group];

    if (metric_of_all_stacks(metric) != metric)
        return error_set(error, ERROR_INPUT,
            "%s: %s is there in sweeps with network encoder_decoder alone; here, all is one stack: %s",
            view->name, metric_table[metric].name, metric_table[metric_of_all_stacks(metric)].name);
    return error_set(error, ERROR_INPUT,
        "%s: %s was not measured; to measure it, add '%s' to the metrics of measure in the sweep file",
        view->name, metric_table[metric].name, word);
}

/* There is no number of this name: it is a text, was not measured, or is unknown; the message names the
 * nearest name. */
static int refuse_variable(const struct view *view, const char *name, struct error *error)
{
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;

    place_excerpt(name, excerpt);
    if (view_is_text(view, name))
        return error_set(error, ERROR_INPUT,
            "%s: %s is a text; analysis/table lists texts for each run, ncdump -v %s prints it", view->name,
            excerpt, excerpt);
    nearest_init(&nearest, name);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (strcmp(metric_table[metric].name, name) == 0)
            return refuse_metric(view, metric, error);
        offer_name(view, &nearest, metric_table[metric].name);
    }
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++)
        offer_name(view, &nearest, run_variable_table[i].name);
    return error_set(error, ERROR_INPUT, "%s: no variable %s%s see normsweep help metrics", view->name,
        excerpt, nearest.best ? nearest_hint(&nearest, hint) : ";");
}

int picture_find(
    const struct picture *picture, const char *name, struct view_variable *variable, struct error *error)
{
    return view_find(picture->view, name, variable) ? 0 : refuse_variable(picture->view, name, error);
}

int picture_plane(const struct picture *picture, struct plane *plane, struct shape *shape, const char *what,
    struct error *error)
{
    const struct view *view = picture->view;
    int which[] = {PLANE_NONE, PLANE_NONE};
    char about[PICTURE_ABOUT];

    snprintf(about, sizeof(about), "%s: %s", view->name, what);
    if (selection_fix(&picture->selection, shape, about, error) != 0)
        return -1;
    int count = selection_over(&picture->selection, shape, 2, which, about, error);
    if (count < 0)
        return -1;
    if (count == 0)
        which[0] = which[1] = PLANE_CHOOSE;
    return plane_init(plane, shape, which[0], which[1], error);
}

/* Says how many of the drawn runs ended early, which the picture does not show. */
static void print_early(
    const struct picture *picture, const struct plane *plane, const double *early, FILE *out)
{
    int64_t known = 0, ended = 0;

    for (int64_t run = 0; run < picture->view->cells; run++) {
        bool drawn = plane_cell(plane, run) >= 0;
        known += drawn && !isnan(early[run]);
        ended += drawn && early[run] > EARLY_NO;
    }
    if (ended)
        lines_print(out, picture->terminal.columns,
            "%lld of %lld runs ended early: norm_growth is of different steps", (long long)ended,
            (long long)known);
}

/* What is said below the diagram, which the caller frees; NULL with the error set. */
static char *text_below(const struct picture *picture, const struct plane *plane, struct error *error)
{
    const struct view *view = picture->view;
    double *early = view_cells(view, run_variable_table[RUN_VARIABLE_ended_early].name, error);
    char *text = NULL;
    size_t size;
    FILE *out = early ? open_memstream(&text, &size) : NULL;
    bool whole = false;

    if (out) {
        print_early(picture, plane, early, out);
        whole = fclose(out) == 0;
    }
    if (early && !whole) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
        free(text);
        text = NULL;
    }
    free(early);
    return text;
}

static int draw_diagram(
    const struct picture *picture, struct shape *shape, const struct plane *plane, struct error *error)
{
    const struct view *view = picture->view;
    signed char *outcome = malloc((size_t)view->cells);
    double *growth = outcome ? view_cells(view, metric_table[METRIC_norm_growth].name, error) : NULL;
    double *phase = growth ? view_cells(view, run_variable_table[RUN_VARIABLE_phase].name, error) : NULL;
    struct diagram_runs runs = {.axis_count = view->axis_count,
        .axis = view->axis,
        .cells = view->cells,
        .outcome = outcome,
        .growth = growth,
        .phase = phase};
    char *below = phase ? text_below(picture, plane, error) : NULL;
    int result = -1;

    if (!outcome)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    else if (below && view_known_outcomes(view, outcome, error) == 0) {
        struct panels panels;
        panels_init(&panels, shape, plane, view);
        picture_title(picture, "phase diagram", shape);
        result = diagram_draw_panels(picture->out, &picture->terminal, PICTURE_BESIDE + lines_count(below),
            plane, &panels, &runs, error);
        fputs(below, picture->out);
    }
    free(below);
    free(outcome);
    free(growth);
    free(phase);
    return result;
}

int picture_diagram(const struct picture *picture, struct error *error)
{
    struct shape shape;
    struct plane plane;
    int result;

    if (shape_of_axes(&shape, picture->view->axis_count, picture->view->axis, error) != 0)
        return -1;
    result = picture_plane(picture, &plane, &shape, "the phase diagram", error);
    if (result == 0) {
        result = draw_diagram(picture, &shape, &plane, error);
        plane_release(&plane);
    }
    shape_release(&shape);
    return result;
}
