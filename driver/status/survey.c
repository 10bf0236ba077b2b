/*
 * What a dataset says about its sweep: counts, means of ended runs, the runs under way; and the list of what
 * is found, from which text, JSON and screens are made. Commands read a survey (survey_read in parts.c), show
 * it in one of these forms, and release it. A dataset that cannot be read is an error; a file may have been
 * changed by other programs, so a variable of another shape counts as not there.
 */
#include "driver/status/inside.h"
#include "worker/checkpoint/checkpoint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const struct survey_row survey_table[FIELD_COUNT] = {
#define X(name, ...) {__VA_ARGS__},
    SURVEY_FIELDS(X)
#undef X
};

const char *survey_say(
    const struct survey *survey, enum survey_field field, enum survey_look look, char text[SAID_SIZE])
{
    const struct survey_row *row = &survey_table[field];
    char number[32];
    double value;

    memcpy(&value, (const char *)survey + row->offset, sizeof(value));
    text[0] = '\0';
    if (isfinite(value))
        snprintf(text, SAID_SIZE, "%s%s%s", row->said[look].before,
            row->kind == KIND_RATE ? rate_format(value, number, sizeof(number))
                                   : duration_format(value, number, sizeof(number)),
            row->said[look].after);
    return text;
}

int64_t survey_next_failed(const struct survey *survey, int64_t cell)
{
    while (cell < survey->view.cells && survey->outcome[cell] != OUTCOME_FAILED)
        cell++;
    return cell < survey->view.cells ? cell : -1;
}

char *survey_reason(const struct survey *survey, int64_t cell, int *cause)
{
    if (survey->reason)
        return survey->reason[cell] ? memory_copy(survey->reason[cell]) : NULL;
    return view_string(&survey->view, run_variable_table[RUN_VARIABLE_reason].name, cell, cause);
}

bool survey_is_going(const struct survey *survey)
{
    return survey->held && survey->ended < survey->runs;
}

/* ---- ended runs ---- */

/* The mean of a variable over runs that have ended; NaN if there are none. */
static int read_mean(
    const struct survey *survey, enum run_variable variable, double *mean, struct error *error)
{
    double *value = view_cells(&survey->view, run_variable_table[variable].name, error), sum = 0;
    int64_t count = 0;

    for (int64_t cell = 0; value && cell < survey->view.cells; cell++) {
        bool ended = survey->outcome[cell] == OUTCOME_DONE || survey->outcome[cell] == OUTCOME_DIVERGED;
        if (ended && isfinite(value[cell])) {
            sum += value[cell];
            count++;
        }
    }
    *mean = count ? sum / (double)count : NAN;
    free(value);
    return value ? 0 : -1;
}

/* ---- runs under way ---- */

/* The last step of a complete run: `steps`, or else the end of the epochs, if no axis can change it. -1:
 * unknown. */
static int64_t last_step_of(const struct view *view, int64_t cell)
{
    struct run run;

    grid_run(view->axis_count, view->axis, &view->base, cell, &run);
    if (run.steps > 0)
        return run.steps;
    for (int64_t i = 0; i < view->axis_count; i++)
        for (int64_t j = 0; j < view->axis[i].param_count; j++)
            if (view->axis[i].param[j]->cost || view->axis[i].param[j] == param_find("epochs"))
                return -1;
    return view->step[view->step_count - 1];
}

/* Runs of both surveys are sorted by cell, so those of the one before are passed only once. */
static int read_runs(struct survey *survey, const struct survey *before, double now, struct error *error)
{
    const struct view *view = &survey->view;
    double *rows = memory_new((size_t)view->step_count, sizeof(*rows));
    struct view_variable loss = {0};
    bool has_loss = view_find(view, metric_table[METRIC_train_loss].name, &loss) &&
                    view_is_of_runs(view, &loss) && loss.dimension_count == view->axis_count + 1 &&
                    loss.length[view->axis_count] == view->step_count;
    int64_t passed = 0, count = 0;
    int result = 0;

    survey->run = memory_zero((size_t)survey->running, sizeof(*survey->run));
    for (int64_t cell = 0; result == 0 && count < survey->running; cell++) {
        if (survey->outcome[cell] != OUTCOME_RUNNING)
            continue;
        struct survey_run *run = &survey->run[count++];
        *run = (struct survey_run){.cell = cell, .last_step = last_step_of(view, cell), .loss = NAN};
        char *host = view_string(view, run_variable_table[RUN_VARIABLE_host].name, cell, NULL);
        snprintf(run->host, sizeof(run->host), "%s", host ? host : "");
        free(host);
        if (has_loss)
            result = view_read_cell(view, &loss, cell, rows, error);
        for (int64_t i = 0; has_loss && result == 0 && i < view->step_count; i++)
            if (!isnan(rows[i])) { /* the last row counts */
                run->step = view->step[i];
                run->loss = rows[i];
            }
        while (before && passed < before->running && before->run[passed].cell < cell)
            passed++;
        bool same = before && passed < before->running && before->run[passed].cell == cell &&
                    before->run[passed].step == run->step;
        run->heard = same ? before->run[passed].heard : now;
    }
    free(rows);
    return result;
}

/* ---- sessions ---- */

/* Finds the last session, and how long ago it began. */
static int find_session(struct survey *survey, struct error *error)
{
    const struct view *view = &survey->view;
    const char *name = session_variable_table[SESSION_VARIABLE_start].name;
    struct tm date = {0};

    for (int64_t i = 0; i < view->sessions; i++) {
        int cause = 0;
        char *start = view_string(view, name, i, &cause);
        if (cause)
            return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
        bool used = start && start[0], known = used && strptime(start, "%Y-%m-%dT%H:%M:%SZ", &date);
        free(start);
        if (!used)
            break;
        survey->sessions = i + 1;
        survey->age = known ? difftime(time(NULL), timegm(&date)) : NAN;
    }
    return 0;
}

/* A number of the last session; NaN if the dataset has none. */
static int read_number(
    const struct survey *survey, enum session_variable which, double *number, struct error *error)
{
    const struct view *view = &survey->view;
    struct view_variable variable;

    *number = NAN;
    if (survey->sessions == 0 || !view_find(view, session_variable_table[which].name, &variable) ||
        variable.dimension_count != 1 || survey->sessions > variable.size)
        return 0;
    double *value = memory_new((size_t)variable.size, sizeof(*value));
    int result = view_read(view, &variable, value, error);
    if (result == 0)
        *number = value[survey->sessions - 1];
    free(value);
    return result;
}

/* ---- the whole ---- */

void survey_count(struct survey *survey)
{
    memset(survey->count, 0, sizeof(survey->count));
    for (int64_t cell = 0; cell < survey->view.cells; cell++)
        survey->count[survey->outcome[cell]]++;
    survey->running = survey->count[OUTCOME_RUNNING];
    survey->runs = survey->view.cells - survey->count[OUTCOME_SKIPPED];
    survey->ended = survey->runs - survey->count[OUTCOME_PENDING] - survey->running;
}

/* What the last session has written; its pace counts only while a process holds the dataset. */
static int read_session(struct survey *survey, struct error *error)
{
    double expected;
    int cause = 0;

    if (find_session(survey, error) != 0 ||
        (survey->held &&
            (read_number(survey, SESSION_VARIABLE_seconds_left, &survey->left, error) != 0 ||
                read_number(survey, SESSION_VARIABLE_tokens_per_second, &survey->rate, error) != 0)) ||
        read_number(survey, SESSION_VARIABLE_runs, &expected, error) != 0)
        return -1;
    /* Without a search, it is --only that has left runs for later. */
    char *refine = view_text(&survey->view, ATTRIBUTE_REFINE, &cause);
    if (cause)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", survey->view.name, strerror(cause));
    bool searches = refine && expected < (double)survey->runs && survey->ended < survey->runs;
    free(refine);
    survey->expected = searches ? (int64_t)fmax(expected, (double)survey->ended) : survey->runs;
    return 0;
}

/* running: a process holds the dataset, to train or to begin or end the sweep; no process does otherwise.
 * altered: there is a fault. stopped: runs are left. failed: all runs have ended, and some failed. complete:
 * all have ended, and none failed. */
const char *survey_state(const struct survey *survey)
{
    if (survey->held)
        return "running";
    if (survey->fault)
        return "altered";
    if (survey->ended < survey->runs)
        return "stopped";
    return survey->count[OUTCOME_FAILED] > 0 ? "failed" : "complete";
}

static int read_content(struct survey *survey, const struct survey *before, double now, struct error *error)
{
    const struct view *view = &survey->view;
    int cause = 0;

    survey->title = view_text(view, ATTRIBUTE_SWEEP_TITLE, &cause);
    survey->notes = view_text(view, ATTRIBUTE_SWEEP_NOTES, &cause);
    if (cause)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
    survey->outcome = memory_new((size_t)view->cells, 1);
    if (view_outcomes(view, survey->outcome, error) != 0)
        return -1;
    /* If no process holds the dataset, its running runs are pending: the next start makes them so. */
    for (int64_t cell = 0; !survey->held && cell < view->cells; cell++)
        if (survey->outcome[cell] == OUTCOME_RUNNING)
            survey->outcome[cell] = OUTCOME_PENDING;
    survey->growth = view_cells(view, metric_table[METRIC_norm_growth].name, error);
    if (!survey->growth)
        return -1;
    survey->phase = view_cells(view, run_variable_table[RUN_VARIABLE_phase].name, error);
    if (!survey->phase)
        return -1;
    survey_count(survey);
    if (read_session(survey, error) != 0 ||
        read_mean(survey, RUN_VARIABLE_seconds, &survey->mean_seconds, error) != 0 ||
        read_mean(survey, RUN_VARIABLE_tokens_per_second, &survey->mean_rate, error) != 0 ||
        read_runs(survey, before, now, error) != 0)
        return -1;
    /* What run would refuse. A sweep that runs has passed this, and changes what is looked at. */
    if (!survey->held && verify_content(view, error) != 0) {
        survey->fault = memory_copy(error->text);
        if (error->status == ERROR_ENVIRONMENT)
            return -1;
    }
    /* Runs that the next start resumes. That this user cannot read their folder is not an error: they are not
     * listed. */
    if (!survey->held && survey->ended != survey->runs && !view->copy) {
        struct checkpoint_set saved = {0};
        survey->folder = folder_of(view->name);
        if (!survey->folder)
            memory_end();
        cause = checkpoint_set_init(&saved, survey->folder, error);
        if (cause && cause != EACCES && cause != ENOTDIR)
            return -1;
        survey->saved = saved.count;
        checkpoint_set_release(&saved);
    }
    survey->state = survey_state(survey);
    survey->session = survey->sessions - 1;
    return 0;
}

int survey_make(struct survey *survey, const char *path, bool held, const struct survey *before, double now,
    struct error *error)
{
    struct stat file;

    *survey = (struct survey){.held = held, .saved = -1, .age = NAN, .left = NAN, .rate = NAN};
    survey->written = stat(path, &file) == 0 ? difftime(time(NULL), file.st_mtime) : NAN;
    if (view_open(&survey->view, path, error) != 0)
        return -1;
    if (read_content(survey, before, now, error) == 0)
        return 0;
    survey_release(survey);
    return -1;
}

void survey_release(struct survey *survey)
{
    for (int64_t cell = 0; survey->reason && cell < survey->view.cells; cell++)
        free(survey->reason[cell]);
    free(survey->reason);
    free(survey->title);
    free(survey->notes);
    free(survey->fault);
    free(survey->missing);
    free(survey->folder);
    free(survey->outcome);
    free(survey->growth);
    free(survey->phase);
    free(survey->run);
    view_close(&survey->view);
}
