/*
 * Both records of a comparison have the form of the file, so that a value in a place where the run has none
 * is a difference, too.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/inside.h"
#include "driver/dataset/read/read.h"
#include "model/core/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a record has besides metrics. */
static const enum run_variable kept[] = {RUN_VARIABLE_outcome, RUN_VARIABLE_last_step,
    RUN_VARIABLE_diverged_step, RUN_VARIABLE_phase, RUN_VARIABLE_dynamics, RUN_VARIABLE_ended_early};
enum { KEPT = (int)(sizeof(kept) / sizeof(*kept)) };

static int64_t rows_of(const struct view *view, enum metric metric)
{
    return metric_is_of_run(metric) ? 1 : view->step_count;
}

static int64_t values_of(const struct view *view, enum metric metric)
{
    return rows_of(view, metric) * (int64_t)metric_values(metric, &view->form);
}

/* Finds a variable over the grid. */
static int find_variable(
    const struct view *view, const char *name, struct view_variable *variable, struct error *error)
{
    int id, status = lookup_variable(view->file, name, &id);

    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    return view_find(view, name, variable) ? 0 : layout_refuse(error, view->name);
}

/* Gives each metric its place. */
static int lay_out_record(struct record *record, const struct measure *measure, struct error *error)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        struct view_variable variable = {0};
        record->first[metric] = -1;
        if (!metric_stored(metric, &record->view->form, measure->group))
            continue;
        if (find_variable(record->view, metric_table[metric].name, &variable, error) != 0)
            return -1;
        INVARIANT(variable.size == record->view->cells * values_of(record->view, metric),
            "%s has %" PRId64 " values", metric_table[metric].name, variable.size);
        record->first[metric] = record->size;
        record->size += values_of(record->view, metric);
    }
    return 0;
}

int record_init(
    struct record *record, const struct view *view, const struct measure *measure, struct error *error)
{
    *record = (struct record){.view = view};
    if (lay_out_record(record, measure, error) != 0)
        return -1;
    record->value = malloc((size_t)(record->size + 1) * sizeof(*record->value));
    if (!record->value)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    for (int64_t i = 0; i < record->size; i++)
        record->value[i] = NAN;
    return 0;
}

void record_release(struct record *record)
{
    free(record->value);
    *record = (struct record){0};
}

/* ---- the form ---- */

static int refuse_form(
    const struct view *view, const char *dimension, int64_t there, int64_t needed, struct error *error)
{
    return error_set(error, ERROR_INPUT,
        "%s: has no place for all values of its runs: %s is %" PRId64 " long and not %" PRId64
        "; `run` makes room",
        view->name, dimension, there, needed);
}

static int check_lengths(const struct record *record, const struct metric_form *form, struct error *error)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_shape_row *shape = &metric_shape_table[metric_table[metric].shape];
        for (int i = 0; record->first[metric] >= 0 && i < shape->rank; i++) {
            enum metric_dimension dimension = shape->dimension[i];
            int64_t there = record->view->form.along[dimension], needed = form->along[dimension];
            if (there < needed)
                return refuse_form(
                    record->view, metric_dimension_table[dimension].name, there, needed, error);
        }
    }
    return 0;
}

/* The place of a step in the file; -1: it does not have it. */
static int64_t find_step(const struct view *view, int64_t step)
{
    int64_t place = step_place(view->step, view->step_count, step);

    return place < view->step_count && view->step[place] == step ? place : -1;
}

static int check_rows(
    const struct view *view, const struct measure *measure, int64_t last_step, struct error *error)
{
    int64_t count = measure_rows(measure, last_step, NULL);
    int64_t *step = malloc((size_t)(count + 1) * sizeof(*step));
    int result = 0;

    if (!step)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    measure_rows(measure, last_step, step);
    for (int64_t i = 0; result == 0 && i < count; i++)
        if (find_step(view, step[i]) < 0)
            result = error_set(error, ERROR_INPUT,
                "%s: has no place for all values of its runs: step %" PRId64 " is missing", view->name,
                step[i]);
    free(step);
    return result;
}

int record_fits(const struct record *record, const struct run *run, const struct measure *measure,
    int64_t last_step, struct error *error)
{
    const struct metric_form form = metric_form(run, measure);

    return check_lengths(record, &form, error) == 0 ? check_rows(record->view, measure, last_step, error)
                                                    : -1;
}

/* ---- values ---- */

static int read_number(struct record *record, enum run_variable which, int64_t cell, struct error *error)
{
    struct view_variable variable;
    double value;

    if (find_variable(record->view, run_variable_table[which].name, &variable, error) != 0 ||
        view_read_cell(record->view, &variable, cell, &value, error) != 0)
        return -1;
    record->number[which] = (int64_t)value;
    return 0;
}

static int read_metric(struct record *record, enum metric metric, int64_t cell, struct error *error)
{
    struct view_variable variable;

    if (find_variable(record->view, metric_table[metric].name, &variable, error) != 0)
        return -1;
    return view_read_cell(record->view, &variable, cell, record->value + record->first[metric], error);
}

int record_read(struct record *record, int64_t cell, struct error *error)
{
    for (int i = 0; i < KEPT; i++)
        if (read_number(record, kept[i], cell, error) != 0)
            return -1;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (record->first[metric] >= 0 && read_metric(record, metric, cell, error) != 0)
            return -1;
    return 0;
}

void record_row(struct record *record, const struct metric_form *form, int64_t step, const double *values)
{
    const struct view *view = record->view;
    int64_t row = step == STEP_OF_RUN ? 0 : find_step(view, step);

    INVARIANT(row >= 0, "step %" PRId64 " is not in %s", step, view->name);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (record->first[metric] < 0 || metric_is_of_run(metric) != (step == STEP_OF_RUN))
            continue;
        size_t size = metric_values(metric, form), width = metric_values(metric, &view->form);
        double *place = record->value + record->first[metric] + row * (int64_t)width;
        for (size_t i = 0, count; i < size; i += count) {
            size_t there = layout_find(&view->form, form, metric, i, &count);
            memcpy(place + there, values + form->offset[metric] + i, count * sizeof(*values));
        }
    }
}

void record_result(struct record *record, const struct result *result)
{
    record->number[RUN_VARIABLE_outcome] = result->outcome;
    record->number[RUN_VARIABLE_last_step] = result->last_step;
    record->number[RUN_VARIABLE_diverged_step] = result->diverged_step;
    record->number[RUN_VARIABLE_phase] = dataset_phase(result);
    record->number[RUN_VARIABLE_dynamics] = result->dynamics;
    record->number[RUN_VARIABLE_ended_early] = result->ended_early;
}

/* ---- comparison ---- */

static bool same_value(double a, double b)
{
    uint64_t left, right;

    memcpy(&left, &a, sizeof(left));
    memcpy(&right, &b, sizeof(right));
    return left == right || (isnan(a) && isnan(b));
}

static void compare_metric(struct difference *difference, const struct record *stored,
    const struct record *again, enum metric metric)
{
    int64_t first = stored->first[metric], count = values_of(stored->view, metric);

    for (int64_t i = 0; i < count; i++) {
        double a = stored->value[first + i], b = again->value[first + i];
        difference->values += !(isnan(a) && isnan(b));
        if (same_value(a, b) || difference->different++ > 0)
            continue;
        difference->metric = metric;
        difference->place = i;
        difference->stored = a;
        difference->again = b;
    }
}

static void compare_number(struct difference *difference, const struct record *stored,
    const struct record *again, enum run_variable which)
{
    int64_t a = stored->number[which], b = again->number[which];

    difference->values++;
    if (a == b || difference->different++ > 0)
        return;
    difference->metric = METRIC_COUNT;
    difference->variable = which;
    difference->stored = (double)a;
    difference->again = (double)b;
}

/* Metrics come first, because where a run takes another course, its losses tell when. */
struct difference record_compare(const struct record *stored, const struct record *again)
{
    struct difference difference = {.metric = METRIC_COUNT};

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (stored->first[metric] >= 0)
            compare_metric(&difference, stored, again, metric);
    for (int i = 0; i < KEPT; i++)
        compare_number(&difference, stored, again, kept[i]);
    return difference;
}

/* ---- texts ---- */

/* "layer 1", "tensor w2" */
static void print_coordinate(
    FILE *out, const struct view *view, enum metric_dimension dimension, int64_t index)
{
    const struct metric_dimension_row *row = &metric_dimension_table[dimension];

    if (dimension == DIMENSION_STEP)
        fprintf(out, "%s %" PRId64, row->name, view->step[index]);
    else if (row->number)
        fprintf(out, "%s %.12g", row->name, row->number(index));
    else
        fprintf(out, "%s %s", row->name, row->word(index) ? row->word(index) : "?");
}

static void print_metric(FILE *out, const struct difference *difference, const struct view *view)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = metric_dimensions(difference->metric, &view->form, dimension);
    int64_t inner = values_of(view, difference->metric), rest = difference->place;

    fputs(metric_table[difference->metric].name, out);
    for (int i = 0; i < rank; i++) {
        inner /= dimension[i] == DIMENSION_STEP ? view->step_count : view->form.along[dimension[i]];
        fputs(i ? ", " : " at ", out);
        print_coordinate(out, view, dimension[i], rest / inner);
        rest %= inner;
    }
    fprintf(out, ": %.17g in %s, %.17g trained again", difference->stored, view->name, difference->again);
}

/* "done", "20" */
static void print_number(FILE *out, enum run_variable which, double number)
{
    int count;
    const char *const *word = run_variable_flags(which, &count);

    if (number >= 0 && number < count)
        fputs(word[(int)number], out);
    else
        fprintf(out, "%.17g", number);
}

static void print_variable(FILE *out, const struct difference *difference, const struct view *view)
{
    fprintf(out, "%s: ", run_variable_table[difference->variable].name);
    print_number(out, difference->variable, difference->stored);
    fprintf(out, " in %s, ", view->name);
    print_number(out, difference->variable, difference->again);
    fputs(" trained again", out);
}

char *difference_text(
    const struct difference *difference, const struct view *view, char text[DIFFERENCE_TEXT])
{
    FILE *out = fmemopen(text, DIFFERENCE_TEXT, "w");

    text[0] = '\0';
    if (!out)
        return text;
    if (difference->metric < METRIC_COUNT)
        print_metric(out, difference, view);
    else
        print_variable(out, difference, view);
    fclose(out);
    text[DIFFERENCE_TEXT - 1] = '\0';
    return text;
}
