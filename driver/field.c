/* Any variable over two of its dimensions, as numbers where they fit, else as shades. */
#include "driver/picture.h"

#include "driver/dataset_tables.h"
#include "driver/nearest.h"
#include "driver/plane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_WIDTH = 10, SHADE_WIDTH = 6 };

/* A variable over a plane. */
struct field {
    struct plot plot;
    struct plane plane;
    struct view_flags flags;
    double *value; /* [y][x] as drawn: a mean or, of flags, the most frequent; NaN where there is nothing */
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
        if (strcmp(plane->variable.dimension[i], metric_dimension_table[DIMENSION_STEP].name) == 0 &&
            i != plane->x.dimension && i != plane->y.dimension && plane->variable.length[i] > 1)
            return i;
    return -1;
}

static int64_t cell_count(const struct field *field)
{
    return field->plane.x.length * field->plane.y.length;
}

/* `count` has room for a number per cell, all 0. */
static void average(struct field *field, const double *values, int64_t *count)
{
    for (int64_t i = 0; i < field->plane.variable.size; i++) {
        int64_t cell = plane_cell(&field->plane, i);
        if (isnan(values[i]))
            continue;
        field->value[cell] += values[i];
        count[cell]++;
    }
    for (int64_t i = 0; i < cell_count(field); i++)
        field->value[i] = count[i] ? field->value[i] / (double)count[i] : NAN;
}

/* The flag that most of the counts are of, the lowest of equals; NaN where all are 0. */
static double most_frequent(const int64_t *count, int flags)
{
    int best = 0;

    for (int flag = 1; flag < flags; flag++)
        best = count[flag] > count[best] ? flag : best;
    return count[best] ? best : NAN;
}

/* `count` has room for a number per cell and flag, all 0. */
static void vote(struct field *field, const double *values, int64_t *count)
{
    int flags = field->flags.count;

    for (int64_t i = 0; i < field->plane.variable.size; i++)
        if (values[i] >= 0 && values[i] < flags)
            count[plane_cell(&field->plane, i) * flags + (int)values[i]]++;
    for (int64_t i = 0; i < cell_count(field); i++)
        field->value[i] = most_frequent(count + i * flags, flags);
}

static void find_range(struct field *field)
{
    field->low = INFINITY;
    field->high = -INFINITY;
    for (int64_t i = 0; i < cell_count(field); i++) {
        field->low = fmin(field->low, field->value[i]);
        field->high = fmax(field->high, field->value[i]);
    }
    field->logarithmic = field->low > 0 && field->high > 100 * field->low;
}

/* `values` has room for the whole variable, `count` for the plane and, of flags, each of them. */
static int read_and_reduce(
    struct field *field, const struct view *view, double *values, int64_t *count, struct error *error)
{
    const struct plane *plane = &field->plane;

    if (view_read(view, &plane->variable, values, error) != 0)
        return -1;
    if (hidden_step(plane) >= 0)
        keep_last_step(&plane->variable, hidden_step(plane), values);
    if (field->flags.count)
        vote(field, values, count);
    else
        average(field, values, count);
    find_range(field);
    return 0;
}

static int reduce(struct field *field, const struct view *view, struct error *error)
{
    const struct plane *plane = &field->plane;
    size_t cells = (size_t)cell_count(field), flags = field->flags.count ? (size_t)field->flags.count : 1;
    double *values = malloc((size_t)plane->variable.size * sizeof(*values));
    int64_t *count = calloc(cells * flags, sizeof(*count));
    int result = -1;

    field->value = calloc(cells, sizeof(*field->value));
    if (values && count && field->value)
        result = read_and_reduce(field, view, values, count, error);
    else
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    free(values);
    free(count);
    return result;
}

static double value_at(const struct field *field, int64_t x, int64_t y)
{
    return field->value[y * field->plane.x.length + x];
}

static void draw_word(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    const struct field *field = context;
    double value = value_at(field, x, y);

    fprintf(out, "%-*s", width, isnan(value) ? "." : field->flags.word[(int)value]);
}

static void draw_number(void *context, FILE *out, int64_t x, int64_t y, int width)
{
    double value = value_at(context, x, y);
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
    double value = value_at(field, x, y);
    double low = on_scale(field, field->low), high = on_scale(field, field->high);
    int levels = (int)sizeof(shades) - 1, level = 0;

    if (isfinite(high - low) && high > low && !isnan(value))
        level = (int)((on_scale(field, value) - low) / (high - low) * levels);
    level = level < levels ? level : levels - 1;
    plot_fill(out, isnan(value) ? ' ' : shades[level], width);
}

static int longest_word(const struct view_flags *flags)
{
    size_t longest = 0;

    for (int i = 0; i < flags->count; i++)
        longest = strlen(flags->word[i]) > longest ? strlen(flags->word[i]) : longest;
    return (int)longest;
}

typedef void draw_cell(void *context, FILE *out, int64_t x, int64_t y, int width);

/* Draws cells with `fitting` where they leave it `least` columns, else with `other`. */
static void choose_cell(struct plot *plot, int least, draw_cell *fitting, draw_cell *other)
{
    plot->most = least + 2;
    plot->cell = plot_cell_width(plot) >= least ? fitting : other;
    plot->most = plot->cell == fitting ? plot->most : SHADE_WIDTH;
}

/* What the digits or the shades mean. */
static void draw_legend(const struct field *field)
{
    const struct view_flags *flags = &field->flags;
    FILE *out = field->plot.out;

    for (int i = 0; field->plot.cell == draw_number && i < flags->count; i++)
        fprintf(out, "%d %s%s", i, flags->word[i], i + 1 < flags->count ? ", " : "\n");
    if (field->plot.cell == draw_shade && field->low <= field->high)
        fprintf(out, "%c %.4g to %c %.4g%s, blank: nothing\n", shades[0], field->low,
            shades[sizeof(shades) - 2], field->high, field->logarithmic ? ", logarithmic" : "");
}

/* Words where they fit, else their numbers; numbers where they fit, else shades. */
static void draw_field(struct field *field, const struct view *view, const char *name)
{
    char others[PLANE_NAMES];
    struct plot *plot = &field->plot;
    bool flags = field->flags.count > 0;

    plot->x = field->plane.x.axis;
    plot->y = field->plane.y.axis;
    plot->context = field;
    if (flags)
        choose_cell(plot, longest_word(&field->flags) + 1, draw_word, draw_number);
    else
        choose_cell(plot, NUMBER_WIDTH, draw_number, draw_shade);
    plane_title(plot->out, view, name);
    if (plot->x.name || plot->y.name)
        plot_draw(plot);
    else if (flags)
        fprintf(plot->out, "%s\n", isnan(field->value[0]) ? "." : field->flags.word[(int)field->value[0]]);
    else
        fprintf(plot->out, "%.6g\n", field->value[0]);
    draw_legend(field);
    if (hidden_step(&field->plane) >= 0)
        fputs("at the last step that has a value\n", plot->out);
    plane_others(&field->plane, metric_dimension_table[DIMENSION_STEP].name, others, sizeof(others));
    if (others[0])
        fprintf(plot->out, "%s over %s\n", flags ? "most frequent" : "mean", others);
}

static void offer(const struct view *view, struct nearest *nearest, const char *name)
{
    struct view_variable variable;

    if (view_find(view, name, &variable))
        nearest_offer(nearest, name);
}

/* No number is called so: a text, or what the dataset has under the nearest name. */
static int refuse_variable(const struct view *view, const char *name, struct error *error)
{
    char excerpt[EXCERPT_SIZE], hint[NEAREST_SIZE];
    struct nearest nearest;

    place_excerpt(name, excerpt);
    if (view_is_text(view, name))
        return error_set(error, ERROR_INPUT, "%s: %s is a text", view->name, excerpt);
    nearest_init(&nearest, name);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        offer(view, &nearest, metric_table[metric].name);
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++)
        offer(view, &nearest, run_variable_table[i].name);
    return error_set(error, ERROR_INPUT, "%s: no variable %s%s see normsweep help metrics", view->name,
        excerpt, nearest.best ? nearest_hint(&nearest, hint) : ";");
}

int field_show(const struct view *view, const char *name, struct error *error)
{
    struct field field = {0};
    struct view_variable variable;

    plot_init(&field.plot, stdout);
    if (!view_find(view, name, &variable))
        return refuse_variable(view, name, error);
    if (plane_init(&field.plane, view, &variable, error) != 0)
        return -1;
    view_flags(view, &variable, &field.flags);
    int result = reduce(&field, view, error);
    if (result == 0)
        draw_field(&field, view, name);
    free(field.value);
    plane_release(&field.plane);
    return result;
}
