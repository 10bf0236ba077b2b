/*
 * What arguments name: of `show` a variable, values of dimensions (--at), the axes to draw (--over); of other
 * commands, cells of a grid by their values. A name that is not there is answered with the nearest one, or
 * with what there is.
 */
#include "driver/picture/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 8, LIST_SIZE = 256 };
#define TOLERANCE 1e-9 /* relative, of values */

struct selection {
    const struct choice_of_cells *choice;
    struct plane *plane; /* of its axes, or of a variable's dimensions */
    struct error *error;
};

/* ---- answers to what is not there ---- */

/* "out.nc: param_norm: <format>". Always -1. */
#define refuse(s, ...)                                                                                       \
    (error_set((s)->error, ERROR_INPUT, __VA_ARGS__), error_prefix((s)->error, "%s", (s)->choice->name))

/* The name may be a key of the sweep file that is not an axis here, or the one of a value of a `together`. */
static int refuse_name(const struct selection *s, const char *name, const char *option)
{
    const struct choice_of_cells *grid = s->choice;
    const struct param *param = param_find(name);
    const struct axis *along = param ? axis_find(grid->axis_count, grid->axis, param) : NULL;
    char text[LIST_SIZE];
    struct string names = {0};
    struct nearest nearest;

    if (along && along->label)
        return refuse(s, "%s changes along %s; %s takes that name", name, along->name, option);
    if (param && !along && !axis_derives(grid->axis_count, grid->axis, grid->base, param))
        return refuse(s, "%s is %s in all runs, and is not an axis; leave it out of %s", name,
            param_format(param, param_get(param, grid->base), text, sizeof(text)), option);
    nearest_init(&nearest, name);
    for (int i = 0; i < s->plane->count; i++) {
        nearest_offer(&nearest, s->plane->dimension[i].name);
        string_format(&names, "%s%s", i ? ", " : "; it has ", s->plane->dimension[i].name);
    }
    error_set(s->error, ERROR_INPUT, "%s has no dimension '%s'%s", grid->name, text_excerpt(name).text,
        nearest.best   ? nearest_hint(&nearest).text
        : names.length ? names.bytes
                       : "; it has none");
    string_release(&names);
    return -1;
}

/* "it is one of 0, 1, 2, ..., 49", "it is 0": the values of a dimension. */
static char *list_values(const struct dimension *dimension)
{
    char label[DIMENSION_LABEL];
    struct string text = {0};

    for (int64_t i = 0; i < dimension->length; i++) {
        bool hidden = dimension->length > LIST_MOST && i >= LIST_MOST - 2 && i < dimension->length - 1;
        if (hidden && i >= LIST_MOST - 1)
            continue;
        string_format(&text, "%s%s",
            i > 0                   ? ", "
            : dimension->length > 1 ? "it is one of "
                                    : "it is ",
            hidden ? "..." : dimension_label(dimension, i, label));
    }
    return string_take(&text);
}

/* "the nearest of 41 are 0.1 and 0.316", "the nearest of 41 is 10": the values next to a number. */
static char *list_nearest(const struct dimension *dimension, double value)
{
    int64_t below = -1, above = -1;
    char label[DIMENSION_LABEL];
    struct string text = {0};

    for (int64_t i = 0; i < dimension->length; i++) {
        double at = dimension->number[i];
        if (at < value && (below < 0 || at > dimension->number[below]))
            below = i;
        if (at > value && (above < 0 || at < dimension->number[above]))
            above = i;
    }
    string_format(&text, "the nearest of %lld %s", (long long)dimension->length,
        below >= 0 && above >= 0 ? "are" : "is");
    if (below >= 0)
        string_format(&text, " %s", dimension_label(dimension, below, label));
    if (above >= 0)
        string_format(&text, "%s %s", below >= 0 ? " and" : "", dimension_label(dimension, above, label));
    return string_take(&text);
}

static int refuse_value(const struct selection *s, const struct dimension *dimension, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    bool long_list = dimension->number && dimension->length > LIST_MOST;
    struct nearest nearest;

    const struct excerpt excerpt = text_excerpt(value);
    nearest_init(&nearest, value);
    for (int64_t i = 0; dimension->word && i < dimension->length; i++)
        nearest_offer(&nearest, dimension->word[i]);
    bool number_far = long_list && *value && !*end && isfinite(number);
    if (!number_far && nearest.best)
        return refuse(s, "no %s '%s'%s", dimension->name, excerpt.text, nearest_hint(&nearest).text);
    char *values = number_far ? list_nearest(dimension, number) : list_values(dimension);
    refuse(s, "no %s '%s'; %s", dimension->name, excerpt.text, values);
    free(values);
    return -1;
}

/* ---- --at and --over ---- */

/* The index of a value: a word as it is, or as pictures show it; a number, or the rounded label that pictures
 * show. -1: there is none. */
static int64_t find_value(const struct dimension *dimension, const char *value)
{
    char *shown = lines_clean(memory_copy(value)), *end, label[DIMENSION_LABEL];
    double number = strtod(value, &end);
    bool found = false;
    int64_t i = -1;

    while (!found && ++i < dimension->length) {
        if (dimension->word) {
            found = strcmp(dimension->word[i], shown) == 0;
            continue;
        }
        double is = dimension->number[i];
        found = (*value && !*end && fabs(number - is) <= TOLERANCE * fabs(is)) ||
                strcmp(dimension_label(dimension, i, label), value) == 0;
    }
    free(shown);
    return found ? i : -1;
}

/* Fixes one "seed=0"; overwrites the '='. */
static int fix_one(const struct selection *s, char *pair)
{
    char *value = strchr(pair, '=');

    if (!value || value == pair)
        return refuse(s, "%s takes NAME=VALUE and not '%s'", s->choice->option, text_excerpt(pair).text);
    *value++ = '\0';
    int found = plane_find(s->plane, pair);
    if (found < 0)
        return refuse_name(s, pair, s->choice->option);
    struct dimension *dimension = &s->plane->dimension[found];
    if (dimension->fixed >= 0)
        return refuse(s, "%s names %s twice", s->choice->option, dimension->name);
    dimension->fixed = find_value(dimension, value);
    return dimension->fixed < 0 ? refuse_value(s, dimension, value) : 0;
}

/* Is the text a single pair whose value contains a comma? */
static bool is_whole(const struct plane *plane, const char *text)
{
    const char *value = strchr(text, '=');

    for (int i = 0; value && i < plane->count; i++) {
        const char *name = plane->dimension[i].name;
        if (strlen(name) == (size_t)(value - text) && strncmp(name, text, strlen(name)) == 0)
            return find_value(&plane->dimension[i], value + 1) >= 0;
    }
    return false;
}

/* Fixes what a text such as "seed=0,norm_placement=pre" names. */
static int fix_all(const struct selection *s, const char *pairs)
{
    char *text = memory_copy(pairs), *rest = text, *pair;
    const char *between = is_whole(s->plane, text) ? "" : ",";
    int result = 0;

    while (result == 0 && (pair = strsep(&rest, between)))
        result = fix_one(s, pair);
    free(text);
    return result;
}

int selection_choose(const struct picture *picture, struct plane *plane, struct error *error)
{
    const struct view *view = picture->view;
    char *name =
        memory_format("%s: %s", view->name, picture->variable ? picture->variable : "the phase diagram");
    const struct choice_of_cells choice = {.name = name,
        .option = "--at",
        .axis_count = view->axis_count,
        .axis = view->axis,
        .base = &view->base};
    const struct selection s = {&choice, plane, error};
    int which[] = {PLANE_NONE, PLANE_NONE}, result = 0;

    for (int i = 0; result == 0 && i < picture->at_count; i++)
        result = fix_all(&s, picture->at[i]);
    if (!picture->over)
        which[0] = which[1] = PLANE_CHOOSE;
    char *over = picture->over ? memory_copy(picture->over) : NULL, *rest = over, *axis;
    for (int i = 0; result == 0 && (axis = strsep(&rest, ",")); i++) {
        int found = i < 2 ? plane_find(plane, axis) : -1;
        if (i == 2)
            result = refuse(&s, "--over takes one or two names");
        else if (found < 0)
            result = refuse_name(&s, axis, "--over");
        else if (plane->dimension[found].fixed >= 0)
            result = refuse(&s, "%s is both in --at and in --over", axis);
        else if (found == which[0])
            result = refuse(&s, "--over names %s twice", axis);
        else
            which[i] = found;
    }
    free(over);
    if (result == 0)
        plane_choose(plane, view, which[0], which[1]);
    free(name);
    return result;
}

/* ---- cells ---- */

int selection_cells(const struct choice_of_cells *choice, bool **chosen, struct error *error)
{
    int64_t cells = 1;
    int result = 0;

    for (int64_t i = 0; i < choice->axis_count; i++)
        cells *= choice->axis[i].length;
    *chosen = memory_zero((size_t)cells, sizeof(**chosen));
    for (int i = 0; result == 0 && i < choice->count; i++) {
        struct plane plane;
        plane_of_axes(&plane, choice->axis_count, choice->axis);
        result = fix_all(&(struct selection){choice, &plane, error}, choice->text[i]);
        for (int64_t cell = 0; result == 0 && cell < cells; cell++) {
            bool fits = true;
            for (int axis = 0; fits && axis < plane.count; axis++)
                fits =
                    plane.dimension[axis].fixed < 0 ||
                    plane.dimension[axis].fixed == axis_index(choice->axis_count, choice->axis, axis, cell);
            (*chosen)[cell] = (*chosen)[cell] || fits;
        }
        plane_release(&plane);
    }
    if (result == 0)
        return 0;
    free(*chosen);
    *chosen = NULL;
    return -1;
}

int64_t selection_cell(const struct choice_of_cells *choice, struct error *error)
{
    struct string open = {0};
    struct plane plane;
    int64_t cell = 0, runs = 1;
    int result = 0;

    plane_of_axes(&plane, choice->axis_count, choice->axis);
    for (int i = 0; result == 0 && i < choice->count; i++)
        result = fix_all(&(struct selection){choice, &plane, error}, choice->text[i]);
    for (int i = 0; i < plane.count; i++) {
        const struct dimension *dimension = &plane.dimension[i];
        cell = cell * dimension->length + (dimension->fixed > 0 ? dimension->fixed : 0);
        if (dimension->fixed >= 0 || dimension->length == 1)
            continue;
        runs *= dimension->length;
        string_format(&open, "%s%s", open.length ? ", " : "", dimension->name);
    }
    if (result == 0 && runs > 1)
        result = error_set(error, ERROR_INPUT, "%s: %s %lld runs, and inspect takes one; add %s of %s",
            choice->name, choice->count ? "--at names" : "a dataset of", (long long)runs,
            choice->count ? "a value" : "--at with values", open.bytes);
    string_release(&open);
    plane_release(&plane);
    return result == 0 ? cell : -1;
}

/* ---- variables ---- */

int selection_variable(
    const struct view *view, const char *name, struct view_variable *variable, struct error *error)
{
    struct view_variable other;
    struct nearest nearest;
    enum metric metric = 0;

    if (view_find(view, name, variable))
        return 0;
    const struct excerpt excerpt = text_excerpt(name);
    if (view_is_text(view, name))
        return error_set(error, ERROR_INPUT,
            "%s: %s is a text; analysis/table lists texts for each run, ncdump -v %s prints it", view->name,
            excerpt.text, excerpt.text);
    nearest_init(&nearest, name);
    for (; metric < METRIC_COUNT && strcmp(metric_table[metric].name, name) != 0; metric++)
        if (view_find(view, metric_table[metric].name, &other))
            nearest_offer(&nearest, metric_table[metric].name);
    if (metric < METRIC_COUNT && metric_of_all_stacks(metric) != metric)
        return error_set(error, ERROR_INPUT,
            "%s: %s is there in sweeps with network encoder_decoder alone; here, all is one stack: %s",
            view->name, name, metric_table[metric_of_all_stacks(metric)].name);
    if (metric < METRIC_COUNT)
        return error_set(error, ERROR_INPUT,
            "%s: %s was not measured; to measure it, add '%s' to the metrics of measure in the sweep file: "
            "this makes another sweep, to be trained into another -o",
            view->name, name, metric_group_names[metric_table[metric].group]);
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++)
        if (view_find(view, run_variable_table[i].name, &other))
            nearest_offer(&nearest, run_variable_table[i].name);
    return error_set(error, ERROR_INPUT, "%s: no variable %s%s see normsweep help metrics", view->name,
        excerpt.text, nearest.best ? nearest_hint(&nearest).text : ";");
}
