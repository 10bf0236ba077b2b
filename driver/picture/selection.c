#include "driver/picture/selection.h"

#include "driver/tables/dataset_tables.h"
#include "driver/text/lines.h"
#include "driver/text/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 8, LIST_SIZE = 256 };
#define TOLERANCE 1e-9 /* relative, of values */

/* "learning_rate, seed": the dimensions of the shape. */
static const char *list_names(const struct shape *shape, char text[LIST_SIZE])
{
    text[0] = '\0';
    for (int i = 0; i < shape->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, LIST_SIZE - used, "%s%s", used ? ", " : "", shape->dimension[i].name);
    }
    return text;
}

/* "0, 1, 2, ..., 49": the values of a dimension. */
static const char *list_values(const struct dimension *dimension, char text[LIST_SIZE])
{
    int digits = dimension_digits(dimension);
    char label[DIMENSION_LABEL];

    text[0] = '\0';
    for (int64_t i = 0; i < dimension->length; i++) {
        size_t used = strlen(text);
        bool hidden = dimension->length > LIST_MOST && i >= LIST_MOST - 2 && i < dimension->length - 1;
        if (hidden && i >= LIST_MOST - 1)
            continue;
        snprintf(text + used, LIST_SIZE - used, "%s%s", used ? ", " : "",
            hidden ? "..." : dimension_label(dimension, i, digits, label));
    }
    return text;
}

/* Is it a dimension of other variables? Such a name is not a typing error, so no other is suggested. */
static bool is_dimension(const char *name)
{
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (strcmp(metric_dimension_table[i].name, name) == 0)
            return true;
    return false;
}

/* The axis of several keys along which this one changes; NULL: none. */
static const struct axis *axis_of(const struct view *view, const struct param *param)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        for (int64_t j = 0; view->axis[i].label && j < view->axis[i].param_count; j++)
            if (view->axis[i].param[j] == param)
                return &view->axis[i];
    return NULL;
}

/* Is it the name of a dimension with an 's' behind it? `steps` is a key, `step` a dimension. */
static bool is_plural(const struct shape *shape, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < shape->count; i++)
        if (length == strlen(shape->dimension[i].name) + 1 && name[length - 1] == 's' &&
            strncmp(name, shape->dimension[i].name, length - 1) == 0)
            return true;
    return false;
}

/* Refuses a key of the sweep file that is not an axis here. 0: it is not a key. */
static int known_key(const struct view *view, const struct shape *shape, const char *name, const char *option,
    const char *about, struct error *error)
{
    const struct param *param = is_plural(shape, name) ? NULL : param_find(name);
    union param_value value;
    char text[64];

    if (!param)
        return 0;
    const struct axis *axis = axis_of(view, param);
    if (axis)
        return error_set(error, ERROR_INPUT, "%s: %s changes along %s; %s takes that name", about, name,
            axis->name, option);
    if (!view_param(view, param, &value))
        return 0;
    return error_set(error, ERROR_INPUT, "%s: %s is %s in all runs, and is not an axis; leave it out of %s",
        about, name, param_format(param, value, text, sizeof(text)), option);
}

static int unknown_name(const struct selection *selection, const struct shape *shape, const char *name,
    const char *option, const char *about, struct error *error)
{
    if (known_key(selection->view, shape, name, option, about, error) != 0)
        return -1;
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE], names[LIST_SIZE];
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (int i = 0; i < shape->count && !is_dimension(name); i++)
        nearest_offer(&nearest, shape->dimension[i].name);
    if (nearest.best)
        return error_set(error, ERROR_INPUT, "%s has no dimension '%s'%s", about,
            place_excerpt(name, excerpt), nearest_hint(&nearest, hint));
    return error_set(error, ERROR_INPUT, "%s has no dimension '%s'; %s%s", about,
        place_excerpt(name, excerpt), shape->count ? "it has " : "it has none", list_names(shape, names));
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
    return error_set(error, ERROR_INPUT, "%s: no %s '%s'; it is %s%s", about, dimension->name,
        place_excerpt(value, excerpt), dimension->length > 1 ? "one of " : "",
        list_values(dimension, values));
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
    char *shown = lines_clean(strdup(value));
    int64_t i = 0;

    for (; i < dimension->length; i++)
        if (dimension->word ? strcmp(dimension->word[i], shown ? shown : value) == 0
                            : is_number(dimension, i, value))
            break;
    free(shown);
    return i < dimension->length ? i : -1;
}

/* Fixes one "seed=0"; overwrites the '='. */
static int fix_one(const struct selection *selection, struct shape *shape, char *pair, const char *about,
    struct error *error)
{
    char excerpt[EXCERPT_SIZE], *value = strchr(pair, '=');

    if (!value || value == pair)
        return error_set(error, ERROR_INPUT, "%s: --at takes NAME=VALUE and not '%s'", about,
            place_excerpt(pair, excerpt));
    *value++ = '\0';
    int found = shape_find(shape, pair);
    if (found < 0)
        return unknown_name(selection, shape, pair, "--at", about, error);
    struct dimension *dimension = &shape->dimension[found];
    if (dimension->fixed >= 0)
        return error_set(error, ERROR_INPUT, "%s: --at names %s twice", about, dimension->name);
    dimension->fixed = find_value(dimension, value);
    return dimension->fixed < 0 ? unknown_value(dimension, value, about, error) : 0;
}

/* A copy of a text for strsep. */
static char *copy(const char *text, struct error *error)
{
    char *own = strdup(text);

    if (!own)
        error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
    return own;
}

/* Is the text a single pair whose value contains a comma? */
static bool is_whole(const struct shape *shape, const char *text)
{
    const char *value = strchr(text, '=');

    for (int i = 0; value && i < shape->count; i++) {
        const char *name = shape->dimension[i].name;
        if (strlen(name) == (size_t)(value - text) && strncmp(name, text, strlen(name)) == 0)
            return find_value(&shape->dimension[i], value + 1) >= 0;
    }
    return false;
}

int selection_fix(
    const struct selection *selection, struct shape *shape, const char *about, struct error *error)
{
    int result = 0;

    for (int i = 0; result == 0 && i < selection->at_count; i++) {
        char *text = copy(selection->at[i], error), *rest = text, *pair;
        result = text ? 0 : -1;
        const char *between = text && is_whole(shape, text) ? "" : ",";
        while (result == 0 && (pair = strsep(&rest, between)))
            result = fix_one(selection, shape, pair, about, error);
        free(text);
    }
    return result;
}

/* The dimension that a name of `over` means, unless it is fixed or among the `count` in `which`. */
static int take_over(const struct selection *selection, const struct shape *shape, const char *name,
    const int *which, int count, const char *about, struct error *error)
{
    int found = shape_find(shape, name);

    if (found < 0)
        return unknown_name(selection, shape, name, "--over", about, error);
    if (shape->dimension[found].fixed >= 0)
        return error_set(error, ERROR_INPUT, "%s: %s is both in --at and in --over", about, name);
    for (int i = 0; i < count; i++)
        if (which[i] == found)
            return error_set(error, ERROR_INPUT, "%s: --over names %s twice", about, name);
    return found;
}

int selection_over(const struct selection *selection, const struct shape *shape, int most, int *which,
    const char *about, struct error *error)
{
    char *text = selection->over ? copy(selection->over, error) : NULL, *rest = text, *name;
    int count = 0;

    if (selection->over && !text)
        return -1;
    while (count >= 0 && (name = strsep(&rest, ","))) {
        int found = count < most ? take_over(selection, shape, name, which, count, about, error)
                                 : error_set(error, ERROR_INPUT, "%s: --over takes %s here", about,
                                       most == 1 ? "one name" : "one or two names");
        if (found >= 0)
            which[count++] = found;
        else
            count = -1;
    }
    free(text);
    return count;
}
