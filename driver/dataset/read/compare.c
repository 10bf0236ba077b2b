/*
 * Compares one run in two files: all that follows from its configuration, metrics and those of the other
 * variables that are not about time, place or attempts. Each number of the second file has its place in the
 * first, whose dimensions are as long or longer; everywhere else the first must have none, so that a value in
 * a place where the run has none is a difference, too.
 */
#include "driver/dataset/read/inside.h"

#include <inttypes.h>

/* What is compared besides metrics. */
static const enum run_variable compared[] = {RUN_VARIABLE_outcome, RUN_VARIABLE_last_step,
    RUN_VARIABLE_diverged_step, RUN_VARIABLE_phase, RUN_VARIABLE_dynamics, RUN_VARIABLE_ended_early};
enum { COMPARED = (int)(sizeof(compared) / sizeof(*compared)) };

static int64_t values_of(const struct view *view, enum metric metric)
{
    return (metric_is_of_run(metric) ? 1 : view->step_count) * (int64_t)metric_values(metric, &view->form);
}

/* Has the first file a place for each number of the second? */
static int check_form(const struct view *stored, const struct view *again, struct error *error)
{
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (stored->form.along[i] < again->form.along[i])
            return error_set(error, ERROR_INPUT,
                "%s: has no place for all values of its runs: %s is %" PRId64 " long and not %" PRId64
                "; `run` makes room",
                stored->name, metric_dimension_table[i].name, stored->form.along[i], again->form.along[i]);
    for (int64_t i = 0; i < again->step_count; i++) {
        int64_t at = step_place(stored->step, stored->step_count, again->step[i]);
        if (at == stored->step_count || stored->step[at] != again->step[i])
            return error_set(error, ERROR_INPUT,
                "%s: has no place for all values of its runs: step %" PRId64 " is missing", stored->name,
                again->step[i]);
    }
    return 0;
}

/* Reads a cell of a variable over the grid; `size` values. */
static int read_values(const struct view *view, const char *name, int64_t cell, int64_t size, double *values,
    struct error *error)
{
    struct view_variable variable;
    int id, status = lookup_variable(view->file, name, &id);

    if (status != NC_NOERR)
        return layout_error(error, view->name, status);
    if (!view_find(view, name, &variable) || variable.size != view->cells * size)
        return layout_error(error, view->name, NC_ENOTNC);
    return view_read_cell(view, &variable, cell, values, error);
}

/* Two cells that should hold the same run. */
struct pair {
    const struct view *stored, *again;
    int64_t cell, other;
    struct outline there, here; /* of the two files */
};

/* Compares a metric that the first file has. */
static int compare_metric(
    struct difference *difference, const struct pair *pair, enum metric metric, struct error *error)
{
    bool both = pair->here.metric[metric];
    const char *name = metric_table[metric].name;
    int64_t size = values_of(pair->stored, metric), narrow = both ? values_of(pair->again, metric) : 0;
    double *was = memory_new((size_t)size, sizeof(*was)), *is = memory_new((size_t)size, sizeof(*is));
    double *from = memory_new((size_t)narrow, sizeof(*from));
    int result = read_values(pair->stored, name, pair->cell, size, was, error);

    for (int64_t i = 0; i < size; i++)
        is[i] = NAN;
    if (result == 0 && both) {
        result = read_values(pair->again, name, pair->other, narrow, from, error);
        if (result == 0)
            layout_spread(&pair->there, &pair->here, 0, metric, from, is);
    }
    for (int64_t i = 0; result == 0 && i < size; i++) {
        bool none = isnan(was[i]) && isnan(is[i]);
        difference->values += !none;
        if (none || memcmp(&was[i], &is[i], sizeof(*is)) == 0 || difference->different++ > 0)
            continue;
        difference->metric = metric;
        difference->place = i;
        difference->stored = was[i];
        difference->again = is[i];
    }
    free(was);
    free(is);
    free(from);
    return result;
}

/* Metrics come first, because where a run takes another course, its losses tell when. */
int view_compare(const struct view *stored, int64_t cell, const struct view *again, int64_t other,
    struct difference *difference, struct error *error)
{
    const struct pair pair = {stored, again, cell, other, view_outline(stored), view_outline(again)};

    *difference = (struct difference){.metric = METRIC_COUNT};
    if (check_form(stored, again, error) != 0)
        return -1;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (pair.there.metric[metric] && compare_metric(difference, &pair, metric, error) != 0)
            return -1;
    for (int i = 0; i < COMPARED; i++) {
        double was, is;
        const char *name = run_variable_table[compared[i]].name;
        if (read_values(stored, name, cell, 1, &was, error) != 0 ||
            read_values(again, name, other, 1, &is, error) != 0)
            return -1;
        difference->values++;
        if (was == is || difference->different++ > 0)
            continue;
        difference->variable = compared[i];
        difference->stored = was;
        difference->again = is;
    }
    return 0;
}

/* ---- what is said of it ---- */

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

char *difference_text(
    const struct difference *difference, const struct view *view, char text[DIFFERENCE_TEXT])
{
    FILE *out = fmemopen(text, DIFFERENCE_TEXT, "w");
    enum metric metric = difference->metric;

    text[0] = '\0';
    if (!out)
        return text;
    if (metric == METRIC_COUNT) {
        fprintf(out, "%s: ", run_variable_table[difference->variable].name);
        print_number(out, difference->variable, difference->stored);
        fprintf(out, " in %s, ", view->name);
        print_number(out, difference->variable, difference->again);
        fputs(" trained again", out);
    } else {
        enum metric_dimension dimension[METRIC_RANK_MOST];
        int rank = metric_dimensions(metric, &view->form, dimension);
        int64_t inner = values_of(view, metric), rest = difference->place;
        fputs(metric_table[metric].name, out);
        for (int i = 0; i < rank; i++) {
            const struct metric_dimension_row *row = &metric_dimension_table[dimension[i]];
            inner /= dimension[i] == DIMENSION_STEP ? view->step_count : view->form.along[dimension[i]];
            int64_t index = rest / inner;
            fprintf(out, "%s%s ", i ? ", " : " at ", row->name);
            if (dimension[i] == DIMENSION_STEP)
                fprintf(out, "%" PRId64, view->step[index]);
            else if (row->number)
                fprintf(out, "%.12g", row->number(index));
            else
                fputs(row->word(index) ? row->word(index) : "?", out);
            rest %= inner;
        }
        fprintf(out, ": %.17g in %s, %.17g trained again", difference->stored, view->name, difference->again);
    }
    fclose(out);
    text[DIFFERENCE_TEXT - 1] = '\0';
    return text;
}
