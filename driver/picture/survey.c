#include "driver/picture/survey.h"

#include "driver/dataset/variables.h"
#include "driver/tables/dataset_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS_MOST 9e15 /* whole numbers up to here are the same as reals */

/* ---- ended runs ---- */

static double *read_run_variable(const struct view *view, enum run_variable variable, struct error *error)
{
    return view_cells(view, run_variable_table[variable].name, error);
}

static bool has_result(const struct survey *survey, int64_t cell)
{
    return survey->outcome[cell] == OUTCOME_DONE || survey->outcome[cell] == OUTCOME_DIVERGED;
}

/* The mean over runs that have ended. */
static double mean_of(const struct survey *survey, const double *values)
{
    double sum = 0;
    int64_t count = 0;

    for (int64_t cell = 0; cell < survey->cells; cell++) {
        if (!has_result(survey, cell) || !isfinite(values[cell]))
            continue;
        sum += values[cell];
        count++;
    }
    return count ? sum / (double)count : NAN;
}

/* Adds an ended run to its kind. Where sequences differ in length, what its steps trained on is told by its
 * speed. */
static void add_ended(struct survey *survey, int64_t cell, double seconds, double steps, double speed)
{
    struct kind *kind = &survey->kinds.kind[kinds_find(&survey->kinds, cell)];
    double tokens = survey->kinds.tokens[kind - survey->kinds.kind];

    if (!isfinite(seconds) || !(fabs(steps) <= STEPS_MOST))
        return;
    kind->ended++;
    kind->seconds += seconds;
    kind->steps += steps;
    if (survey->outcome[cell] == OUTCOME_DONE)
        kind->last_step = (int64_t)steps;
    tokens = isnan(tokens) ? speed * seconds : tokens * steps;
    if (isfinite(tokens))
        survey->tokens += tokens;
}

static int add_all_ended(struct survey *survey, const struct view *view, struct error *error)
{
    double *seconds = read_run_variable(view, RUN_VARIABLE_seconds, error);
    double *steps = seconds ? read_run_variable(view, RUN_VARIABLE_last_step, error) : NULL;
    double *speed = steps ? read_run_variable(view, RUN_VARIABLE_tokens_per_second, error) : NULL;
    double all = 0;

    for (int64_t cell = 0; speed && cell < survey->cells; cell++)
        if (has_result(survey, cell))
            add_ended(survey, cell, seconds[cell], steps[cell], speed[cell]);
    if (speed) {
        survey->seconds = mean_of(survey, seconds);
        survey->speed = mean_of(survey, speed);
    }
    for (int64_t i = 0; i < survey->kinds.count; i++)
        all += survey->kinds.kind[i].seconds;
    survey->rate = survey->tokens / all;
    int result = speed ? 0 : -1;
    free(seconds);
    free(steps);
    free(speed);
    return result;
}

/* ---- runs under way ---- */

/* Where a run's last row is, and its loss. `rows`: of the run, [step_count]. */
static void find_row(struct survey_run *run, const struct view *view, const double *rows)
{
    for (int64_t i = 0; i < view->step_count; i++) {
        if (isnan(rows[i]))
            continue;
        run->step = view->step[i];
        run->loss = rows[i];
    }
}

static void read_host(struct survey_run *run, const struct view *view)
{
    char *host = view_string(view, run_variable_table[RUN_VARIABLE_host].name, run->cell);

    snprintf(run->host, sizeof(run->host), "%s", host ? host : "");
    free(host);
}

/* The same run of an earlier survey, whose runs are by cell, too. */
static const struct survey_run *find_run(const struct survey *before, int64_t cell, int64_t *place)
{
    while (before && *place < before->running && before->run[*place].cell < cell)
        ++*place;
    bool found = before && *place < before->running && before->run[*place].cell == cell;
    return found ? &before->run[*place] : NULL;
}

/* A file that nobody has written alone may have it over anything. */
static bool is_over_steps(const struct view *view, const struct view_variable *variable)
{
    return view_is_of_runs(view, variable) && variable->dimension_count == view->axis_count + 1 &&
           variable->length[view->axis_count] == view->step_count;
}

/* `loss`: of size 0 where the dataset has none; `rows`: room for a run's. */
static int read_run(struct survey *survey, const struct view *view, const struct view_variable *loss,
    double *rows, struct survey_run *run, struct error *error)
{
    double tokens;

    *run = (struct survey_run){
        .cell = run->cell, .kind = kinds_find(&survey->kinds, run->cell), .loss = NAN, .anew = run->anew};
    read_host(run, view);
    if (loss->size > 0) {
        if (view_read_cell(view, loss, run->cell, rows, error) != 0)
            return -1;
        find_row(run, view, rows);
    }
    tokens = survey->kinds.tokens[run->kind] * (double)run->step;
    if (isfinite(tokens))
        survey->tokens += tokens;
    return 0;
}

/* Cells that are running; anew: at their first attempt. */
static int list_runs(struct survey *survey, const struct view *view, struct error *error)
{
    double *attempts = read_run_variable(view, RUN_VARIABLE_attempts, error);
    int64_t count = 0;

    if (!attempts)
        return -1;
    for (int64_t cell = 0; cell < survey->cells && count < survey->running; cell++)
        if (survey->outcome[cell] == OUTCOME_RUNNING)
            survey->run[count++] = (struct survey_run){.cell = cell, .anew = attempts[cell] <= 1};
    free(attempts);
    return 0;
}

static int read_runs(struct survey *survey, const struct view *view, const struct survey *before, double now,
    struct error *error)
{
    double *rows = malloc((size_t)view->step_count * sizeof(*rows));
    struct view_variable loss = {0};
    int64_t place = 0;

    survey->run = calloc((size_t)survey->running + 1, sizeof(*survey->run));
    if (!rows || !survey->run) {
        free(rows);
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    }
    int result = list_runs(survey, view, error);
    if (!view_find(view, metric_table[METRIC_train_loss].name, &loss) || !is_over_steps(view, &loss))
        loss.size = 0;
    for (int64_t i = 0; result == 0 && i < survey->running; i++) {
        struct survey_run *run = &survey->run[i];
        const struct survey_run *earlier = find_run(before, run->cell, &place);
        result = read_run(survey, view, &loss, rows, run, error);
        run->heard = earlier && earlier->step == run->step ? earlier->heard : now;
    }
    free(rows);
    return result;
}

/* ---- the whole ---- */

int64_t survey_session(const struct view *view)
{
    int64_t last = -1;

    for (int64_t i = 0; i < view->sessions; i++) {
        char *start = view_string(view, session_variable_table[SESSION_VARIABLE_start].name, i);
        bool used = start && start[0];
        free(start);
        if (!used)
            break;
        last = i;
    }
    return last;
}

static double session_age(const struct view *view)
{
    int64_t last = survey_session(view);
    char *start =
        last < 0 ? NULL : view_string(view, session_variable_table[SESSION_VARIABLE_start].name, last);
    struct tm date = {0};
    bool known = start && strptime(start, "%Y-%m-%dT%H:%M:%SZ", &date);

    free(start);
    return known ? difftime(time(NULL), timegm(&date)) : NAN;
}

/* A run that nobody is left to end will start anew: the next start makes it pending. */
static void count_outcomes(struct survey *survey, bool held)
{
    for (int64_t cell = 0; cell < survey->cells; cell++) {
        enum outcome outcome = (enum outcome)survey->outcome[cell];
        if (outcome == OUTCOME_RUNNING && !held)
            outcome = OUTCOME_PENDING;
        survey->count[outcome]++;
        if (outcome == OUTCOME_PENDING)
            survey->kinds.kind[kinds_find(&survey->kinds, cell)].pending++;
    }
    survey->running = survey->count[OUTCOME_RUNNING];
    survey->runs = survey->cells - survey->count[OUTCOME_SKIPPED];
    survey->ended = survey->runs - survey->count[OUTCOME_PENDING] - survey->running;
}

static int find_left(struct survey *survey, double now)
{
    struct under_way *run = malloc((size_t)(survey->running + 1) * sizeof(*run));
    struct remaining remaining = {survey->kinds.count, survey->kinds.kind, survey->running, run, survey->age};

    if (!run)
        return -1;
    for (int64_t i = 0; i < survey->running; i++)
        run[i] = (struct under_way){.kind = survey->run[i].kind,
            .step = survey->run[i].step,
            .silent = now - survey->run[i].heard,
            .anew = survey->run[i].anew};
    survey->left = remaining_seconds(&remaining);
    free(run);
    return 0;
}

static int read_all(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error)
{
    survey->outcome = malloc((size_t)view->cells);
    if (!survey->outcome)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    if (view_outcomes(view, survey->outcome, error) != 0 || kinds_init(&survey->kinds, view, error) != 0)
        return -1;
    survey->growth = view_cells(view, metric_table[METRIC_norm_growth].name, error);
    if (!survey->growth)
        return -1;
    count_outcomes(survey, held);
    survey->age = session_age(view);
    if (add_all_ended(survey, view, error) != 0 || read_runs(survey, view, before, now, error) != 0)
        return -1;
    return find_left(survey, now) == 0 ? 0 : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
}

int survey_make(struct survey *survey, const struct view *view, bool held, const struct survey *before,
    double now, struct error *error)
{
    *survey = (struct survey){.cells = view->cells, .speed = NAN, .seconds = NAN, .left = NAN};
    if (read_all(survey, view, held, before, now, error) == 0)
        return 0;
    survey_release(survey);
    return -1;
}

void survey_release(struct survey *survey)
{
    kinds_release(&survey->kinds);
    free(survey->outcome);
    free(survey->growth);
    free(survey->run);
    *survey = (struct survey){0};
}
