#include "driver/picture/boundary_text.h"

#include "driver/boundary/slope.h"
#include "driver/dataset/view_attributes.h"
#include "driver/tables/dataset_tables.h"
#include "driver/text/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 6, PREDICTIONS_TEXT = 128, RULE_TEXT = 128 };

/* The slopes of a dataset. */
struct slopes {
    struct shape shape;
    double *slope, *low, *high, *rejects; /* [shape.size]; `rejects` NULL: no prediction is about them */
    struct view_variable variable; /* the boundaries, whose names `lines` borrows */
    struct shape lines;
    double *boundary, *before; /* [lines.size] and the run before each, on its axis */
    char rule[RULE_TEXT]; /* " of final_train_loss at 2.9"; "": it is the boundary of growth */
};

/* The values of a variable over `size` values; NULL with errno 0: the dataset does not have it. */
static double *read_values(
    const struct view *view, enum boundary_variable which, int64_t size, struct error *error)
{
    struct view_variable variable;

    errno = 0;
    if (!view_find(view, boundary_variable_table[which].name, &variable) || variable.size != size)
        return NULL;
    double *values = malloc((size_t)size * sizeof(*values));
    if (values && view_read(view, &variable, values, error) == 0)
        return values;
    if (!values)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    free(values);
    errno = EIO;
    return NULL;
}

static void slopes_release(struct slopes *slopes)
{
    if (slopes->boundary || slopes->before)
        shape_release(&slopes->lines);
    free(slopes->boundary);
    free(slopes->before);
    free(slopes->slope);
    free(slopes->low);
    free(slopes->high);
    free(slopes->rejects);
}

/* Says what crosses which value at the boundary, unless norm_growth crosses 1, as the diagram shows. */
static int rule_read(char rule[RULE_TEXT], const struct view *view, struct error *error)
{
    const char *growth = metric_table[METRIC_norm_growth].name;
    struct view_variable boundary;
    double at = 1;

    rule[0] = '\0';
    errno = 0;
    if (!view_find(view, boundary_variable_table[BOUNDARY_VARIABLE_boundary].name, &boundary))
        return 0;
    char *variable = view_variable_text(view, &boundary, "variable");
    if (!variable && errno != 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    bool known = variable && view_variable_number(view, &boundary, "at", &at);
    if (known && (at != 1 || strcmp(variable, growth) != 0))
        snprintf(rule, RULE_TEXT, " of %.*s at %g", RULE_TEXT / 2, variable, at);
    free(variable);
    return 0;
}

/* Reads the boundaries to which the lines are fitted. -1: error. */
static int lines_read(struct slopes *slopes, const struct view *view, struct error *error)
{
    struct view_variable *boundary = &slopes->variable;

    if (!view_find(view, boundary_variable_table[BOUNDARY_VARIABLE_boundary].name, boundary))
        return 0;
    slopes->boundary = read_values(view, BOUNDARY_VARIABLE_boundary, boundary->size, error);
    if (!slopes->boundary)
        return errno != 0 ? -1 : 0;
    if (shape_of_variable(&slopes->lines, view, boundary, error) != 0) {
        free(slopes->boundary);
        slopes->boundary = NULL;
        return -1;
    }
    slopes->before = read_values(view, BOUNDARY_VARIABLE_boundary_low, boundary->size, error);
    return !slopes->before && errno != 0 ? -1 : 0;
}

/* 1: there are slopes; 0: none; -1: error. */
static int slopes_read(struct slopes *slopes, const struct view *view, int64_t size, struct error *error)
{
    *slopes = (struct slopes){.slope = read_values(view, BOUNDARY_VARIABLE_boundary_slope, size, error)};
    bool failed = !slopes->slope && errno != 0;
    slopes->low = read_values(view, BOUNDARY_VARIABLE_boundary_slope_low, size, error);
    failed = failed || (!slopes->low && errno != 0);
    slopes->high = read_values(view, BOUNDARY_VARIABLE_boundary_slope_high, size, error);
    failed = failed || (!slopes->high && errno != 0);
    slopes->rejects = read_values(view, BOUNDARY_VARIABLE_boundary_rejects, size, error);
    failed = failed || (!slopes->rejects && errno != 0) || rule_read(slopes->rule, view, error) != 0 ||
             lines_read(slopes, view, error) != 0;
    if (!failed && slopes->slope && slopes->low && slopes->high)
        return 1;
    slopes_release(slopes);
    return failed ? -1 : 0;
}

/* The index of value `place` along a dimension of the shape. */
static int64_t index_along(const struct shape *shape, int dimension, int64_t place)
{
    for (int i = shape->count - 1; i > dimension; i--)
        place /= shape->dimension[i].length;
    return place % shape->dimension[dimension].length;
}

/* Is value `place` of the slopes in the part of the grid that is drawn? */
static bool is_drawn(const struct shape *slopes, const struct shape *grid, int64_t place)
{
    for (int i = 0; i < slopes->count; i++) {
        int same = shape_find(grid, slopes->dimension[i].name);
        int64_t fixed = same < 0 ? -1 : grid->dimension[same].fixed;
        if (fixed >= 0 && fixed != index_along(slopes, i, place))
            return false;
    }
    return true;
}

/* Does the part fix an axis of several values that the slopes do not have? */
static bool is_within(const struct shape *slopes, const struct shape *grid)
{
    for (int i = 0; i < grid->count; i++)
        if (grid->dimension[i].fixed >= 0 && grid->dimension[i].length > 1 &&
            shape_find(slopes, grid->dimension[i].name) < 0)
            return true;
    return false;
}

/* "steps 40, norm_placement pre" of the dimensions that are open in the grid, after `before`. */
static void print_place(
    const struct shape *slopes, const struct shape *grid, int64_t place, const char *before, FILE *out)
{
    for (int i = 0; i < slopes->count; i++) {
        const struct dimension *dimension = &slopes->dimension[i];
        int same = shape_find(grid, dimension->name);
        char label[DIMENSION_LABEL];
        if (same < 0 || !dimension_is_open(&grid->dimension[same]))
            continue;
        dimension_label(dimension, index_along(slopes, i, place), dimension_digits(dimension), label);
        fprintf(out, "%s %s %s", before, dimension->name, label);
        before = ",";
    }
}

/* "1 (orthogonal updates) and 0 (aligned updates)": the predictions with a flag, or without one. */
static int join_predictions(int flags, bool set, const char *and, char text[PREDICTIONS_TEXT])
{
    size_t used = 0;
    int count = 0;

    text[0] = '\0';
    for (int i = 0; i < PREDICTION_COUNT; i++) {
        char word[PREDICTIONS_TEXT];
        if (!(flags >> i & 1) == set)
            continue;
        snprintf(word, sizeof(word), "%s", boundary_prediction_table[i].word);
        for (char *blank = word; (blank = strchr(blank, '_'));)
            *blank = ' ';
        used += (size_t)snprintf(text + used, PREDICTIONS_TEXT - used, "%s%g (%s)", count++ ? and : "",
            boundary_prediction_table[i].slope, word);
    }
    return count;
}

static void print_rejected(double rejects, FILE *out)
{
    char text[PREDICTIONS_TEXT];

    if (join_predictions((int)rejects, true, " and ", text) > 0)
        fprintf(out, ", which rejects %s", text);
    if (join_predictions((int)rejects, false, " nor ", text) == PREDICTION_COUNT)
        fprintf(out, ", which rejects neither %s", text);
}

/* Is boundary `line` one of those to which slope `place` is fitted? */
static bool belongs(const struct slopes *slopes, int64_t line, int64_t place)
{
    for (int i = 0; i < slopes->shape.count; i++) {
        int same = shape_find(&slopes->lines, slopes->shape.dimension[i].name);
        if (same < 0 || index_along(&slopes->lines, same, line) != index_along(&slopes->shape, i, place))
            return false;
    }
    return slopes->before[line] > 0 && isfinite(slopes->boundary[line]);
}

/* Is the spread between the seeds of slope `place` known? Without memory it is told as unknown. */
static bool has_spread(const struct slopes *slopes, int64_t place)
{
    int seed = slopes->before ? shape_find(&slopes->lines, "seed") : -1;
    int64_t seeds = seed >= 0 ? slopes->lines.dimension[seed].length : 0;
    int64_t *known = calloc((size_t)seeds + 1, sizeof(*known));

    for (int64_t line = 0; known && seeds > 0 && line < slopes->lines.size; line++)
        known[index_along(&slopes->lines, seed, line)] += belongs(slopes, line, place);
    bool has = known && slope_has_spread(known, seeds);
    free(known);
    return has;
}

/* The interval of one seed is that of how straight its boundary is. It is narrower than with several seeds,
 * because it does not know how they differ, so it rejects nothing. */
static void print_slope(const struct slopes *slopes, int64_t place, FILE *out)
{
    int seed = slopes->before ? shape_find(&slopes->lines, "seed") : -1;
    bool several = seed >= 0 && slopes->lines.dimension[seed].length > 1;

    fprintf(out, ": slope %.3g over learning_rate", slopes->slope[place]);
    if (isnan(slopes->low[place]) || !has_spread(slopes, place)) {
        fprintf(out, "; %s: the spread between seeds is unknown",
            several ? "fewer than two seeds have boundaries at two rates" : "one seed");
        return;
    }
    fprintf(out, ", 95 %% interval %.3g to %.3g", slopes->low[place], slopes->high[place]);
    if (slopes->rejects && !isnan(slopes->rejects[place]))
        print_rejected(slopes->rejects[place], out);
}

/* Prints one line, as wide as the terminal allows. */
static void print_line(const struct picture *picture, const struct slopes *slopes, const struct shape *grid,
    int64_t place, FILE *out)
{
    char *line = NULL;
    size_t size;
    FILE *memory = open_memstream(&line, &size);

    if (!memory)
        return;
    fprintf(memory, "boundary%s", slopes->rule);
    print_place(&slopes->shape, grid, place, slopes->rule[0] ? "," : " at", memory);
    print_slope(slopes, place, memory);
    if (fclose(memory) == 0)
        lines_print(out, picture->terminal.columns, "%s", line);
    free(line);
}

static void print_all(
    const struct picture *picture, const struct slopes *slopes, const struct shape *grid, FILE *out)
{
    int64_t count = 0;

    for (int64_t i = 0; i < slopes->shape.size; i++) {
        if (isnan(slopes->slope[i]) || !is_drawn(&slopes->shape, grid, i))
            continue;
        if (count++ < MOST_LINES)
            print_line(picture, slopes, grid, i, out);
    }
    if (count > MOST_LINES)
        fprintf(out, "and %lld more: see %s\n", (long long)(count - MOST_LINES),
            boundary_variable_table[BOUNDARY_VARIABLE_boundary_slope].name);
}

/* Prints the lines on slopes that were found. -1: no memory. */
static int print_slopes(const struct picture *picture, const struct view_variable *variable,
    struct slopes *slopes, const struct shape *grid, FILE *out, struct error *error)
{
    if (shape_of_variable(&slopes->shape, picture->view, variable, error) != 0)
        return -1;
    if (!is_within(&slopes->shape, grid))
        print_all(picture, slopes, grid, out);
    shape_release(&slopes->shape);
    return 0;
}

char *boundary_text(const struct picture *picture, const struct shape *shape, struct error *error)
{
    const char *name = boundary_variable_table[BOUNDARY_VARIABLE_boundary_slope].name;
    struct view_variable variable;
    struct slopes slopes;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int found = 0, result = 0;

    if (view_find(picture->view, name, &variable))
        found = slopes_read(&slopes, picture->view, variable.size, error);
    if (found > 0) {
        result = out ? print_slopes(picture, &variable, &slopes, shape, out, error) : 0;
        slopes_release(&slopes);
    }
    if (out && fclose(out) == 0 && found >= 0 && result == 0)
        return text;
    if (found >= 0 && result == 0)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", picture->view->name);
    free(text);
    return NULL;
}
