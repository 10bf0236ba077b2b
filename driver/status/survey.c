/*
 * What a dataset says about its sweep, as numbers: counts, means of ended runs, and the runs under way.
 *
 * A file may have been changed by other programs, so a variable of another shape counts as not there.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/status/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- ended runs ---- */

static double *read_run_variable(const struct view *view, enum run_variable variable, struct error *error)
{
    return view_cells(view, run_variable_table[variable].name, error);
}

/* The mean over runs that have ended. */
static double mean_of(const struct survey *survey, const double *values)
{
    double sum = 0;
    int64_t count = 0;

    for (int64_t cell = 0; cell < survey->cells; cell++) {
        bool ended = survey->outcome[cell] == OUTCOME_DONE || survey->outcome[cell] == OUTCOME_DIVERGED;
        if (ended && isfinite(values[cell])) {
            sum += values[cell];
            count++;
        }
    }
    return count ? sum / (double)count : NAN;
}

static int read_means(struct survey *survey, const struct view *view, struct error *error)
{
    double *seconds = read_run_variable(view, RUN_VARIABLE_seconds, error);
    double *speed = seconds ? read_run_variable(view, RUN_VARIABLE_tokens_per_second, error) : NULL;
    int result = speed ? 0 : -1;

    if (speed) {
        survey->seconds = mean_of(survey, seconds);
        survey->speed = mean_of(survey, speed);
    }
    free(seconds);
    free(speed);
    return result;
}

/* ---- runs under way ---- */

/* Can the number of steps of a run depend on an axis? */
static bool is_told_apart(const struct view *view)
{
    for (int64_t i = 0; i < view->axis_count; i++)
        for (int64_t j = 0; j < view->axis[i].param_count; j++)
            if (view->axis[i].param[j]->cost || view->axis[i].param[j] == param_find("epochs"))
                return true;
    return false;
}

/* The last step of a complete run: `steps`, or else the end of the epochs, if it is the same for all runs.
 * -1: unknown. */
static int64_t last_step_of(const struct view *view, int64_t cell)
{
    const struct param *steps = param_find("steps");
    union param_value value = {0};
    int64_t inner = view->cells;

    view_param(view, steps, &value, NULL);
    for (int64_t i = 0; i < view->axis_count; i++) {
        const struct axis *axis = &view->axis[i];
        inner /= axis->length;
        for (int64_t j = 0; j < axis->param_count; j++)
            if (axis->param[j] == steps)
                value = axis->value[j * axis->length + cell / inner % axis->length];
    }
    if (value.integer > 0)
        return value.integer;
    return is_told_apart(view) ? -1 : view->step[view->step_count - 1];
}

/* The same run in an earlier survey. Both are sorted by cell, so *place only advances. */
static const struct survey_run *find_run(const struct survey *before, int64_t cell, int64_t *place)
{
    while (before && *place < before->running && before->run[*place].cell < cell)
        ++*place;
    bool found = before && *place < before->running && before->run[*place].cell == cell;
    return found ? &before->run[*place] : NULL;
}

/* `loss`: size 0 if the dataset has none. `rows`: [step_count], scratch. */
static int read_run(const struct view *view, const struct view_variable *loss, double *rows,
    struct survey_run *run, struct error *error)
{
    *run = (struct survey_run){.cell = run->cell, .last_step = last_step_of(view, run->cell), .loss = NAN};
    char *host = view_string(view, run_variable_table[RUN_VARIABLE_host].name, run->cell, NULL);
    snprintf(run->host, sizeof(run->host), "%s", host ? host : "");
    free(host);
    if (loss->size == 0)
        return 0;
    if (view_read_cell(view, loss, run->cell, rows, error) != 0)
        return -1;
    for (int64_t i = 0; i < view->step_count; i++)
        if (!isnan(rows[i])) { /* the last row counts */
            run->step = view->step[i];
            run->loss = rows[i];
        }
    return 0;
}

static int read_runs(struct survey *survey, const struct view *view, const struct survey *before, double now,
    struct error *error)
{
    double *rows = memory_new((size_t)view->step_count, sizeof(*rows));
    struct view_variable loss = {0};
    int64_t place = 0, count = 0;
    int result = 0;

    survey->run = memory_zero((size_t)survey->running, sizeof(*survey->run));
    for (int64_t cell = 0; cell < survey->cells && count < survey->running; cell++)
        if (survey->outcome[cell] == OUTCOME_RUNNING)
            survey->run[count++].cell = cell;
    if (!view_find(view, metric_table[METRIC_train_loss].name, &loss) || !view_is_of_runs(view, &loss) ||
        loss.dimension_count != view->axis_count + 1 || loss.length[view->axis_count] != view->step_count)
        loss.size = 0;
    for (int64_t i = 0; result == 0 && i < survey->running; i++) {
        struct survey_run *run = &survey->run[i];
        const struct survey_run *earlier = find_run(before, run->cell, &place);
        result = read_run(view, &loss, rows, run, error);
        run->heard = earlier && earlier->step == run->step ? earlier->heard : now;
    }
    free(rows);
    return result;
}

/* ---- the whole ---- */

/* Finds the last session, and how long ago it began. */
static int find_session(struct survey *survey, const struct view *view, struct error *error)
{
    const char *name = session_variable_table[SESSION_VARIABLE_start].name;
    struct tm date = {0};

    survey->session = -1;
    for (int64_t i = 0; i < view->sessions; i++) {
        int cause = 0;
        char *start = view_string(view, name, i, &cause);
        if (cause)
            return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
        bool used = start && start[0], known = used && strptime(start, "%Y-%m-%dT%H:%M:%SZ", &date);
        free(start);
        if (!used)
            break;
        survey->session = i;
        survey->age = known ? difftime(time(NULL), timegm(&date)) : NAN;
    }
    return 0;
}

/* If no process holds the dataset, its running runs count as pending: the next start makes them so. */
static void count_outcomes(struct survey *survey, bool held)
{
    for (int64_t cell = 0; cell < survey->cells; cell++) {
        enum outcome outcome = (enum outcome)survey->outcome[cell];
        if (outcome == OUTCOME_RUNNING && !held)
            outcome = OUTCOME_PENDING;
        survey->count[outcome]++;
    }
    survey->running = survey->count[OUTCOME_RUNNING];
    survey->runs = survey->cells - survey->count[OUTCOME_SKIPPED];
    survey->ended = survey->runs - survey->count[OUTCOME_PENDING] - survey->running;
}

/* A number of the last session; NaN if the dataset has none. */
static int read_number(const struct survey *survey, const struct view *view, enum session_variable which,
    double *number, struct error *error)
{
    struct view_variable variable;

    if (survey->session < 0 || !view_find(view, session_variable_table[which].name, &variable) ||
        variable.dimension_count != 1 || survey->session >= variable.size)
        return 0;
    double *value = memory_new((size_t)variable.size, sizeof(*value));
    int result = view_read(view, &variable, value, error);
    if (result == 0)
        *number = value[survey->session];
    free(value);
    return result;
}

static int read_all(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error)
{
    survey->outcome = memory_new((size_t)view->cells, 1);
    if (view_known_outcomes(view, survey->outcome, error) != 0)
        return -1;
    survey->growth = view_cells(view, metric_table[METRIC_norm_growth].name, error);
    if (!survey->growth)
        return -1;
    survey->phase = view_cells(view, run_variable_table[RUN_VARIABLE_phase].name, error);
    if (!survey->phase)
        return -1;
    count_outcomes(survey, held);
    if (find_session(survey, view, error) != 0 ||
        (held &&
            (read_number(survey, view, SESSION_VARIABLE_seconds_left, &survey->left, error) != 0 ||
                read_number(survey, view, SESSION_VARIABLE_tokens_per_second, &survey->rate, error) != 0)) ||
        read_number(survey, view, SESSION_VARIABLE_runs, &survey->expected, error) != 0)
        return -1;
    return read_means(survey, view, error) == 0 ? read_runs(survey, view, before, now, error) : -1;
}

int survey_make(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error)
{
    *survey = (struct survey){.cells = view->cells,
        .speed = NAN,
        .seconds = NAN,
        .age = NAN,
        .left = NAN,
        .rate = NAN,
        .expected = NAN};
    if (read_all(survey, view, held, before, now, error) == 0)
        return 0;
    survey_release(survey);
    return -1;
}

double survey_expected(const struct survey *survey)
{
    bool searches = survey->expected < (double)survey->runs && survey->ended < survey->runs;

    return searches ? fmax(survey->expected, (double)survey->ended) : (double)survey->runs;
}

void survey_release(struct survey *survey)
{
    free(survey->outcome);
    free(survey->growth);
    free(survey->phase);
    free(survey->run);
    *survey = (struct survey){0};
}
