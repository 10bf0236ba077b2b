/* Any variable over two of its dimensions, as numbers where they fit, else as shades. */
#include "driver/picture.h"

#include "driver/dataset_tables.h"
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
        if (strcmp(plane->variable.dimension[i], metric_dimension_table[DIMENSION_STEP].name) == 0 &&
            i != plane->x.dimension && i != plane->y.dimension && plane->variable.length[i] > 1)
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

/* `values` has room for the whole variable, `count` for the plane. */
static int read_and_average(
    struct field *field, const struct view *view, double *values, int64_t *count, struct error *error)
{
    const struct plane *plane = &field->plane;

    if (view_read(view, &plane->variable, values, error) != 0)
        return -1;
    if (hidden_step(plane) >= 0)
        keep_last_step(&plane->variable, hidden_step(plane), values);
    average(field, values, count);
    return 0;
}

static int reduce(struct field *field, const struct view *view, struct error *error)
{
    const struct plane *plane = &field->plane;
    size_t cells = (size_t)(plane->x.length * plane->y.length);
    double *values = malloc((size_t)plane->variable.size * sizeof(*values));
    int64_t *count = calloc(cells, sizeof(*count));
    int result = -1;

    field->mean = calloc(cells, sizeof(*field->mean));
    if (values && count && field->mean)
        result = read_and_average(field, view, values, count, error);
    else
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
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
    plot_fill(out, isnan(value) ? ' ' : shades[level], width);
}

/* Numbers where they fit, else shades. */
static void draw_field(struct field *field, const struct view *view, const char *name)
{
    char others[PLANE_NAMES];
    struct plot *plot = &field->plot;

    plot->x = field->plane.x.axis;
    plot->y = field->plane.y.axis;
    plot->context = field;
    plot->most = NUMBER_WIDTH + 2;
    bool numbers = plot_cell_width(plot) >= NUMBER_WIDTH;
    plot->most = numbers ? plot->most : SHADE_WIDTH;
    plot->cell = numbers ? draw_number : draw_shade;
    plane_title(plot->out, view, name);
    if (plot->x.name)
        plot_draw(plot);
    else
        fprintf(plot->out, "%.6g\n", field->mean[0]);
    if (!numbers && field->low <= field->high)
        fprintf(plot->out, "%c %.4g to %c %.4g%s, blank: nothing\n", shades[0], field->low,
            shades[sizeof(shades) - 2], field->high, field->logarithmic ? ", logarithmic" : "");
    if (hidden_step(&field->plane) >= 0)
        fputs("at the last step that has a value\n", plot->out);
    plane_others(&field->plane, metric_dimension_table[DIMENSION_STEP].name, others, sizeof(others));
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

int field_show(const struct view *view, const char *name, struct error *error)
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
