/* What the arguments of `show` name: a variable, values of dimensions (--at), the axes to draw (--over). A
 * name that is not there is answered with the nearest one, or with what there is. */
#include "driver/picture/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 8, LIST_SIZE = 256, ABOUT_SIZE = 512 };
#define TOLERANCE 1e-9 /* relative, of values */

/* "0, 1, 2, ..., 49": the values of a dimension. */
static char *list_values(const struct dimension *dimension)
{
    int digits = dimension_digits(dimension);
    char label[DIMENSION_LABEL];
    struct string text = {0};

    for (int64_t i = 0; i < dimension->length; i++) {
        bool hidden = dimension->length > LIST_MOST && i >= LIST_MOST - 2 && i < dimension->length - 1;
        if (hidden && i >= LIST_MOST - 1)
            continue;
        string_format(&text, "%s%s", text.length ? ", " : "",
            hidden ? "..." : dimension_label(dimension, i, digits, label));
    }
    return string_take(&text);
}

/* The name may be a key of the sweep file that is not an axis here, or the one of a value of a `together`. */
static int unknown_name(const struct view *view, const struct plane *plane, const char *name,
    const char *option, const char *about, struct error *error)
{
    const struct param *param = param_find(name);
    char excerpt[EXCERPT_SIZE], text[LIST_SIZE];
    union param_value value;
    struct nearest nearest;

    for (int64_t i = 0; param && i < view->axis_count; i++)
        for (int64_t j = 0; view->axis[i].label && j < view->axis[i].param_count; j++)
            if (view->axis[i].param[j] == param)
                return error_set(error, ERROR_INPUT, "%s: %s changes along %s; %s takes that name", about,
                    name, view->axis[i].name, option);
    if (param && view_param(view, param, &value, NULL))
        return error_set(error, ERROR_INPUT,
            "%s: %s is %s in all runs, and is not an axis; leave it out of %s", about, name,
            param_format(param, value, text, sizeof(text)), option);
    nearest_init(&nearest, name);
    for (int i = 0; i < plane->count; i++)
        nearest_offer(&nearest, plane->dimension[i].name);
    if (nearest.best)
        return error_set(error, ERROR_INPUT, "%s has no dimension '%s'%s", about,
            place_excerpt(name, excerpt), nearest_hint(&nearest, text));
    struct string names = {0};
    for (int i = 0; i < plane->count; i++)
        string_format(&names, "%s%s", i ? ", " : "", plane->dimension[i].name);
    error_set(error, ERROR_INPUT, "%s has no dimension '%s'; %s%s", about, place_excerpt(name, excerpt),
        plane->count ? "it has " : "it has none", string_text(&names));
    string_release(&names);
    return -1;
}

/* "are 0.1 and 0.316", "is 10": the values next to a number. */
static const char *list_nearest(const struct dimension *dimension, double value, char text[LIST_SIZE])
{
    int64_t below = -1, above = -1;
    int digits = dimension_digits(dimension);
    char label[2][DIMENSION_LABEL] = {"", ""};

    for (int64_t i = 0; i < dimension->length; i++) {
        double at = dimension->number[i];
        if (at < value && (below < 0 || at > dimension->number[below]))
            below = i;
        if (at > value && (above < 0 || at < dimension->number[above]))
            above = i;
    }
    if (below >= 0)
        dimension_label(dimension, below, digits, label[0]);
    if (above >= 0)
        dimension_label(dimension, above, digits, label[1]);
    bool both = below >= 0 && above >= 0;
    snprintf(text, LIST_SIZE, "%s %s%s%s", both ? "are" : "is", label[0], both ? " and " : "", label[1]);
    return text;
}

/* Is the unknown value a number, of a dimension that has too many to list? */
static bool is_lost(const struct dimension *dimension, const char *value, double *number)
{
    char *end;

    *number = strtod(value, &end);
    return dimension->number && dimension->length > LIST_MOST && *value && !*end && isfinite(*number);
}

static int unknown_value(
    const struct dimension *dimension, const char *value, const char *about, struct error *error)
{
    char excerpt[EXCERPT_SIZE], values[LIST_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;
    double number;

    if (is_lost(dimension, value, &number))
        return error_set(error, ERROR_INPUT, "%s: no %s '%s'; the nearest of %lld %s", about, dimension->name,
            place_excerpt(value, excerpt), (long long)dimension->length,
            list_nearest(dimension, number, values));
    nearest_init(&nearest, value);
    for (int64_t i = 0; dimension->word && i < dimension->length; i++)
        nearest_offer(&nearest, dimension->word[i]);
    if (nearest.best)
        return error_set(error, ERROR_INPUT, "%s: no %s '%s'%s", about, dimension->name,
            place_excerpt(value, excerpt), nearest_hint(&nearest, hint));
    char *all = list_values(dimension);
    error_set(error, ERROR_INPUT, "%s: no %s '%s'; it is %s%s", about, dimension->name,
        place_excerpt(value, excerpt), dimension->length > 1 ? "one of " : "", all);
    free(all);
    return -1;
}

/* Does the text mean this value of the dimension? The rounded label that pictures show is enough. */
static bool is_number(const struct dimension *dimension, int64_t index, const char *value)
{
    char *end, label[DIMENSION_LABEL];
    double given = strtod(value, &end), is = dimension->number[index];

    if (*value && !*end && fabs(given - is) <= TOLERANCE * fabs(is))
        return true;
    return strcmp(dimension_label(dimension, index, dimension_digits(dimension), label), value) == 0;
}

/* A word may be given as it is, or as pictures show it. */
static int64_t find_value(const struct dimension *dimension, const char *value)
{
    char *shown = lines_clean(memory_copy(value));
    int64_t i = 0;

    for (; i < dimension->length; i++)
        if (dimension->word ? strcmp(dimension->word[i], shown) == 0 : is_number(dimension, i, value))
            break;
    free(shown);
    return i < dimension->length ? i : -1;
}

/* Fixes one "seed=0"; overwrites the '='. */
static int fix_one(
    const struct view *view, struct plane *plane, char *pair, const char *about, struct error *error)
{
    char excerpt[EXCERPT_SIZE], *value = strchr(pair, '=');

    if (!value || value == pair)
        return error_set(error, ERROR_INPUT, "%s: --at takes NAME=VALUE and not '%s'", about,
            place_excerpt(pair, excerpt));
    *value++ = '\0';
    int found = plane_find(plane, pair);
    if (found < 0)
        return unknown_name(view, plane, pair, "--at", about, error);
    struct dimension *dimension = &plane->dimension[found];
    if (dimension->fixed >= 0)
        return error_set(error, ERROR_INPUT, "%s: --at names %s twice", about, dimension->name);
    dimension->fixed = find_value(dimension, value);
    return dimension->fixed < 0 ? unknown_value(dimension, value, about, error) : 0;
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

static int fix(const struct picture *picture, struct plane *plane, const char *about, struct error *error)
{
    int result = 0;

    for (int i = 0; result == 0 && i < picture->at_count; i++) {
        char *text = memory_copy(picture->at[i]), *rest = text, *pair;
        const char *between = is_whole(plane, text) ? "" : ",";
        while (result == 0 && (pair = strsep(&rest, between)))
            result = fix_one(picture->view, plane, pair, about, error);
        free(text);
    }
    return result;
}

/* Stores the dimensions that `over` names. */
static int choose_axes(const struct picture *picture, const struct plane *plane, int which[2],
    const char *about, struct error *error)
{
    char *text = memory_copy(picture->over), *rest = text, *name;
    int result = 0;

    for (int i = 0; result == 0 && (name = strsep(&rest, ",")); i++) {
        int found = i < 2 ? plane_find(plane, name) : -1;
        if (i == 2)
            result = error_set(error, ERROR_INPUT, "%s: --over takes one or two names", about);
        else if (found < 0)
            result = unknown_name(picture->view, plane, name, "--over", about, error);
        else if (plane->dimension[found].fixed >= 0)
            result = error_set(error, ERROR_INPUT, "%s: %s is both in --at and in --over", about, name);
        else if (found == which[0])
            result = error_set(error, ERROR_INPUT, "%s: --over names %s twice", about, name);
        else
            which[i] = found;
    }
    free(text);
    return result;
}

int selection_choose(const struct picture *picture, struct plane *plane, struct error *error)
{
    int which[] = {PLANE_NONE, PLANE_NONE};
    char about[ABOUT_SIZE];

    snprintf(about, sizeof(about), "%s: %s", picture->view->name,
        picture->variable ? picture->variable : "the phase diagram");
    if (fix(picture, plane, about, error) != 0)
        return -1;
    if (!picture->over)
        which[0] = which[1] = PLANE_CHOOSE;
    else if (choose_axes(picture, plane, which, about, error) != 0)
        return -1;
    plane_choose(plane, picture->view, which[0], which[1]);
    return 0;
}

/* ---- variables ---- */

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

int selection_variable(
    const struct view *view, const char *name, struct view_variable *variable, struct error *error)
{
    return view_find(view, name, variable) ? 0 : refuse_variable(view, name, error);
}
