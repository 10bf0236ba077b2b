/*
 * The boundary as a result of a sweep. Each line of runs along the boundary's axis has one place among the
 * values of `boundary` and its neighbours. Lines that differ only in learning_rate and seed, or in steps and
 * seed, have one place among the slopes.
 */
#include "driver/job/boundary.h"

#include "driver/boundary/line.h"
#include "driver/boundary/slope.h"
#include "driver/dataset/boundary_variables.h"
#include "driver/dataset/read.h"
#include "driver/job/course.h"
#include "driver/sweep/boundary.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/value.h"

#include <math.h>
#include <stdlib.h>

struct boundary_writer {
    const struct sweep *sweep;
    struct dataset *dataset;
    struct lease *lease;
    struct boundary boundary;
    struct course course; /* room for one */
    struct line_point *point; /* [length of the axis] */
    int64_t *index, *axis; /* [axes] */
    int64_t lines;
    double *value[BOUNDARY_VARIABLE_COUNT]; /* NULL: the sweep does not have it */
};

static int no_memory(const struct boundary_writer *w, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", w->sweep->output);
}

static void beat(const struct boundary_writer *w)
{
    if (w->lease)
        lease_beat(w->lease);
}

/* ---- lines ---- */

static double axis_value(const struct axis *axis, int64_t index)
{
    union param_value value = axis->value[index];

    return axis->param[0]->kind == PARAM_REAL ? value.real : (double)value.integer;
}

static bool is_positive(const struct axis *axis)
{
    bool positive = true;

    for (int64_t i = 0; i < axis->length; i++)
        positive = positive && axis_value(axis, i) > 0;
    return positive;
}

/* A weight_decay has a boundary in logarithms even if its smallest value is 0. */
static struct line_rule rule_of(const struct boundary_writer *w)
{
    const struct axis *axis = &w->sweep->axis[w->boundary.axis];
    bool decay = w->boundary.axis == boundary_axis(w->sweep, "weight_decay");

    return (struct line_rule){.at = w->boundary.at,
        .ratio = w->boundary.variable == METRIC_norm_growth && w->boundary.at > 0,
        .log_axis = decay || is_positive(axis),
        .falls = boundary_is_of_growth(w->sweep, &w->boundary)};
}

static bool is_done(const struct boundary_writer *w, int64_t cell)
{
    return dataset_outcomes(w->dataset)[cell] == OUTCOME_DONE;
}

/* Cells between neighbours on a line. */
static int64_t stride_of(const struct boundary_writer *w)
{
    int64_t stride = 1;

    for (int64_t a = w->sweep->axis_count - 1; a > w->boundary.axis; a--)
        stride *= w->sweep->axis[a].length;
    return stride;
}

/* The line that begins at a cell. */
static int find_crossing(
    struct boundary_writer *w, const struct line_rule *rule, int64_t line, int64_t first, struct error *error)
{
    const struct axis *axis = &w->sweep->axis[w->boundary.axis];
    int64_t stride = stride_of(w);

    for (int64_t i = 0; i < axis->length; i++) {
        int64_t cell = first + i * stride;
        w->point[i] = (struct line_point){axis_value(axis, i), NAN};
        if (is_done(w, cell) &&
            dataset_read(w->dataset, cell, w->boundary.variable, &w->point[i].value, error) != 0)
            return -1;
    }
    struct line_bracket bracket = line_cross(rule, w->point, axis->length);
    w->value[BOUNDARY_VARIABLE_boundary][line] = bracket.boundary;
    w->value[BOUNDARY_VARIABLE_boundary_low][line] = bracket.low;
    w->value[BOUNDARY_VARIABLE_boundary_high][line] = bracket.high;
    return 0;
}

/* The run of the smallest decay on a line that the sweep does not skip; -1: none. */
static int64_t smallest_run(const struct boundary_writer *w, int64_t first)
{
    const struct axis *axis = &w->sweep->axis[w->boundary.axis];
    int64_t stride = stride_of(w), least = -1;

    for (int64_t i = 0; i < axis->length; i++)
        if (dataset_outcomes(w->dataset)[first + i * stride] != OUTCOME_SKIPPED &&
            (least < 0 || axis_value(axis, i) < axis_value(axis, least)))
            least = i;
    return least < 0 ? -1 : first + least * stride;
}

/* From that run, if it is done. */
static int predict(struct boundary_writer *w, int64_t line, int64_t first, struct error *error)
{
    int64_t cell = smallest_run(w, first);
    bool known = false;
    struct run run;

    if (!boundary_is_of_growth(w->sweep, &w->boundary) || cell < 0 || !is_done(w, cell))
        return 0;
    if (course_read(w->sweep, w->dataset, cell, &w->course, &known, error) != 0)
        return -1;
    sweep_cell(w->sweep, cell, &run);
    if (known)
        w->value[BOUNDARY_VARIABLE_predicted_boundary][line] =
            prediction_boundary(&w->course, NULL, w->boundary.at * w->boundary.at) /
            run_even_decay_factor(&run);
    return 0;
}

/* Lines are numbered by their first cells. */
static int find_lines(struct boundary_writer *w, struct error *error)
{
    const struct line_rule rule = rule_of(w);
    int64_t stride = stride_of(w), length = w->sweep->axis[w->boundary.axis].length;

    for (int64_t line = 0; line < w->lines; line++) {
        int64_t first = line / stride * stride * length + line % stride;
        beat(w);
        if (find_crossing(w, &rule, line, first, error) != 0 || predict(w, line, first, error) != 0)
            return -1;
    }
    return 0;
}

/* ---- slopes ---- */

/* The variables of a slope. */
struct slope_kind {
    enum boundary_variable slope, low, high;
    const char *along;
};

/* The logarithms of the boundaries of one slope. */
struct slope_room {
    struct slope_data data;
    double *x, *y, *low, *high; /* as in data */
};

static int room_init(struct slope_room *room, const struct boundary_writer *w, int64_t along, int64_t seed,
    struct error *error)
{
    const struct axis *axis = &w->sweep->axis[along];
    int64_t seeds = seed < 0 ? 1 : w->sweep->axis[seed].length, runs = axis->length * seeds;

    room->x = malloc((size_t)(axis->length + 3 * runs) * sizeof(double));
    if (!room->x)
        return no_memory(w, error);
    room->y = room->x + axis->length;
    room->low = room->y + runs;
    room->high = room->low + runs;
    room->data = (struct slope_data){axis->length, seeds, room->x, room->y, room->low, room->high};
    for (int64_t i = 0; i < axis->length; i++)
        room->x[i] = log(axis_value(axis, i));
    return 0;
}

/* The number of the line at the indices along the grid's axes. */
static int64_t line_at(const struct boundary_writer *w)
{
    int64_t line = 0;

    for (int64_t a = 0; a < w->sweep->axis_count; a++)
        if (a != w->boundary.axis)
            line = line * w->sweep->axis[a].length + w->index[a];
    return line;
}

/* Sets the indices along the axes of a slope's variable to those of its value `place`. */
static void set_indices(struct boundary_writer *w, int64_t count, int64_t place)
{
    for (int64_t i = count - 1; i >= 0; i--) {
        int64_t length = w->sweep->axis[w->axis[i]].length;
        w->index[w->axis[i]] = place % length;
        place /= length;
    }
}

/* A boundary at or beside 0 has no logarithm and does not count. */
static void gather(struct boundary_writer *w, struct slope_room *room, int64_t along, int64_t seed)
{
    for (int64_t i = 0; i < room->data.places; i++)
        for (int64_t j = 0; j < room->data.seeds; j++) {
            int64_t run = i * room->data.seeds + j;
            w->index[along] = i;
            if (seed >= 0)
                w->index[seed] = j;
            int64_t line = line_at(w);
            room->low[run] = log(w->value[BOUNDARY_VARIABLE_boundary_low][line]);
            room->high[run] = log(w->value[BOUNDARY_VARIABLE_boundary_high][line]);
            room->y[run] = log(w->value[BOUNDARY_VARIABLE_boundary][line]);
            if (!isfinite(room->low[run]) || !isfinite(room->high[run]))
                room->y[run] = NAN;
        }
}

static int find_slopes(struct boundary_writer *w, const struct slope_kind *kind, struct error *error)
{
    int64_t along = boundary_axis(w->sweep, kind->along), seed = boundary_axis(w->sweep, "seed");
    int64_t count = boundary_axes(w->sweep, boundary_variable_table[kind->slope].over, w->axis);
    struct slope_room room = {0};
    int result = 0;

    if (!w->value[kind->slope])
        return 0;
    if (room_init(&room, w, along, seed, error) != 0)
        return -1;
    for (int64_t i = 0; result == 0 && i < boundary_size(w->sweep, count, w->axis); i++) {
        struct slope slope;
        beat(w);
        set_indices(w, count, i);
        gather(w, &room, along, seed);
        if (slope_fit(&room.data, &slope) != 0)
            result = no_memory(w, error);
        w->value[kind->slope][i] = slope.slope;
        w->value[kind->low][i] = slope.low;
        w->value[kind->high][i] = slope.high;
    }
    free(room.x);
    return result;
}

static void find_rejected(struct boundary_writer *w)
{
    double *rejects = w->value[BOUNDARY_VARIABLE_boundary_rejects];
    const double *low = w->value[BOUNDARY_VARIABLE_boundary_slope_low];
    const double *high = w->value[BOUNDARY_VARIABLE_boundary_slope_high];
    int64_t count = rejects ? boundary_variable_values(w->sweep, BOUNDARY_VARIABLE_boundary_rejects) : 0;

    for (int64_t i = 0; i < count; i++) {
        int flags = 0;
        for (int p = 0; p < PREDICTION_COUNT; p++) {
            double slope = boundary_prediction_table[p].slope;
            flags |= slope < low[i] || slope > high[i] ? 1 << p : 0;
        }
        rejects[i] = isnan(low[i]) ? NAN : flags;
    }
}

/* ---- all ---- */

static int compute(struct boundary_writer *w, struct error *error)
{
    static const struct slope_kind rates = {BOUNDARY_VARIABLE_boundary_slope,
        BOUNDARY_VARIABLE_boundary_slope_low, BOUNDARY_VARIABLE_boundary_slope_high, "learning_rate"};
    static const struct slope_kind lengths = {BOUNDARY_VARIABLE_boundary_steps_slope,
        BOUNDARY_VARIABLE_boundary_steps_slope_low, BOUNDARY_VARIABLE_boundary_steps_slope_high, "steps"};

    if (find_lines(w, error) != 0 || find_slopes(w, &rates, error) != 0 ||
        find_slopes(w, &lengths, error) != 0)
        return -1;
    find_rejected(w);
    return 0;
}

/* All values are NaN. -1: no memory. */
static int writer_init(struct boundary_writer *w)
{
    size_t steps = (size_t)dataset_steps(w->dataset), axes = (size_t)w->sweep->axis_count;
    bool all = true;

    w->course.square = malloc(steps * sizeof(double));
    w->course.time = malloc(steps * sizeof(double));
    w->point = malloc((size_t)w->sweep->axis[w->boundary.axis].length * sizeof(*w->point));
    w->index = calloc(axes, sizeof(*w->index));
    w->axis = calloc(axes, sizeof(*w->axis));
    w->lines = boundary_variable_values(w->sweep, BOUNDARY_VARIABLE_boundary);
    for (int i = 0; i < BOUNDARY_VARIABLE_COUNT; i++) {
        int64_t count = boundary_variable_values(w->sweep, i);
        w->value[i] = count ? malloc((size_t)count * sizeof(double)) : NULL;
        all = all && (count == 0 || w->value[i]);
        for (int64_t j = 0; w->value[i] && j < count; j++)
            w->value[i][j] = NAN;
    }
    return all && w->course.square && w->course.time && w->point && w->index && w->axis ? 0 : -1;
}

static void writer_release(struct boundary_writer *w)
{
    for (int i = 0; i < BOUNDARY_VARIABLE_COUNT; i++)
        free(w->value[i]);
    free(w->course.square);
    free(w->course.time);
    free(w->point);
    free(w->index);
    free(w->axis);
}

int boundary_update(
    const struct sweep *sweep, struct dataset *dataset, struct lease *lease, bool ended, struct error *error)
{
    struct boundary_writer writer = {.sweep = sweep, .dataset = dataset, .lease = lease};

    if (!boundary_of(sweep, &writer.boundary))
        return 0;
    int result = writer_init(&writer) == 0 ? 0 : no_memory(&writer, error);
    if (result == 0 && ended)
        result = compute(&writer, error);
    for (int i = 0; result == 0 && i < BOUNDARY_VARIABLE_COUNT; i++)
        if (writer.value[i])
            result = dataset_put_boundary(dataset, i, writer.value[i], error);
    writer_release(&writer);
    return result;
}
