/*
 * What a job would do, without one. Which cells would be trained is the answer of chooser.c, from where the
 * answer of the keeper (keeper.c); both read the files that a start would read.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/job/inside.h"
#include "driver/output/output.h"
#include "driver/search/search.h"
#include "driver/sweep/sweep.h"
#include "worker/checkpoint/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which cells ---- */

/* What a search reads: the runs of the file, if it has any that would be kept. */
struct archive {
    const struct sweep *sweep;
    const struct start_plan *plan;
    bool failed;
    struct error error; /* set if failed */
};

/* Reads the values of a metric of one cell, which are not in the file if it was made without them. */
static bool read_metric(struct archive *archive, int64_t cell, enum metric metric, double *values)
{
    const struct view *view = &archive->plan->view;
    int64_t place = archive->plan->place[cell];
    struct view_variable variable;

    if (place < 0 || archive->failed || !view_find(view, metric_table[metric].name, &variable))
        return false;
    archive->failed = view_read_cell(view, &variable, place, values, &archive->error) != 0;
    return !archive->failed;
}

static double archived_value(void *context, int64_t cell, enum metric metric)
{
    struct archive *archive = context;
    double value = NAN;

    return read_metric(archive, cell, metric, &value) ? value : NAN;
}

static bool archived_course(void *context, int64_t cell, struct course *course)
{
    struct archive *archive = context;
    struct run run;

    sweep_cell(archive->sweep, cell, &run);
    return course_is_of(&run) && read_metric(archive, cell, METRIC_param_norm, course->square) &&
           read_metric(archive, cell, METRIC_rate_sum, course->time) &&
           course_make(&run, archive->plan->view.step, archive->plan->view.step_count, course);
}

/* Marks the cells that a search would train at first. What it needs and a skip has left out stays so. */
static void choose_first(struct archive *archive, struct search *search, bool *chosen)
{
    struct choice choice;

    while (!archive->failed && search_next(search, &choice)) {
        if (choice.kind == CHOICE_LEAVE)
            continue;
        enum outcome outcome = (enum outcome)archive->plan->outcome[choice.cell];
        if (outcome == OUTCOME_PENDING || outcome == OUTCOME_SKIPPED)
            chosen[choice.cell] = true;
        else
            search_take(search, choice.cell, outcome);
    }
}

static int search_first(struct archive *archive, bool *chosen, double *later, struct error *error)
{
    const struct search_reader reader = {archive, archived_value, archived_course};
    const struct view *view = &archive->plan->view;
    struct search *search = search_new(archive->sweep, &reader, view->file >= 0 ? view->step_count : 1);

    choose_first(archive, search, chosen);
    *later = search_left(search);
    search_free(search);
    if (archive->failed)
        *error = archive->error;
    return archive->failed ? -1 : 0;
}

/* Marks the cells that would be trained [cells]. */
static int choose(const struct sweep *sweep, const struct start_plan *plan, bool *chosen, double *later,
    struct error *error)
{
    struct archive archive = {.sweep = sweep, .plan = plan};

    *later = 0;
    if (sweep->refine.kind != REFINE_NONE)
        return search_first(&archive, chosen, later, error);
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        chosen[cell] = plan->outcome[cell] == OUTCOME_PENDING;
    return 0;
}

/* ---- from where ---- */

static void take_step(struct forecast_steps *steps, int64_t step)
{
    steps->least = steps->runs && steps->least < step ? steps->least : step;
    steps->most = steps->runs && steps->most > step ? steps->most : step;
    steps->runs++;
}

/* Files of runs are set aside with --fresh; of a shorter sweep, only the states stay. */
static int look_for_files(const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, const char *folder, const struct run *run, int64_t *step,
    enum resumption *resumption, struct error *error)
{
    struct keeper keeper = {.folder = folder};
    struct digest digest;

    *resumption = RESUME_NONE;
    if (plan->fate == START_SETS_ASIDE)
        return 0;
    sweep_run_digest(sweep, corpus, run, &digest);
    keeper_begin(&keeper, &digest, 1, true);
    if (run->save_weights == SAVE_STATE) {
        sweep_trunk_digest(sweep, corpus, run, &digest);
        keeper_share(&keeper, &digest);
    }
    if (keeper_look(&keeper, run, run_last_step(run, corpus), step, resumption, error) != 0)
        return -1;
    if (plan->fate == START_GROWS && *resumption == RESUME_CHECKPOINT)
        *resumption = RESUME_NONE;
    return 0;
}

static void count_cell(
    struct forecast *forecast, enum outcome before, enum resumption resumption, int64_t step)
{
    if (resumption == RESUME_CHECKPOINT)
        take_step(&forecast->resumed, step);
    else if (resumption == RESUME_STATE)
        take_step(&forecast->carried, step);
    else if (before == OUTCOME_FAILED)
        forecast->retried++;
    else if (before == OUTCOME_RUNNING)
        forecast->again++;
    else
        forecast->begun++;
}

static int count_chosen(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, const bool *chosen, struct error *error)
{
    char *folder = folder_of(sweep->output);
    int result = folder ? 0 : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", sweep->output);

    for (int64_t cell = 0; result == 0 && cell < sweep->cells; cell++) {
        enum resumption resumption;
        struct run run;
        int64_t step = 0;
        if (!chosen[cell])
            continue;
        sweep_cell(sweep, cell, &run);
        result = look_for_files(sweep, corpus, plan, folder, &run, &step, &resumption, error);
        if (result == 0)
            count_cell(forecast, (enum outcome)plan->before[cell], resumption, step);
    }
    free(folder);
    return result;
}

int forecast_make(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, struct error *error)
{
    bool *chosen = calloc((size_t)sweep->cells + 1, sizeof(*chosen));
    int result = -1;

    *forecast = (struct forecast){0};
    if (chosen)
        result = choose(sweep, plan, chosen, &forecast->later, error);
    else
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", sweep->output);
    for (int64_t cell = 0; result == 0 && cell < sweep->cells; cell++)
        if (!chosen[cell] && plan->outcome[cell] != OUTCOME_PENDING)
            forecast->kept[plan->outcome[cell]]++;
    if (result == 0)
        result = count_chosen(forecast, sweep, corpus, plan, chosen, error);
    free(chosen);
    return result;
}

int64_t forecast_pending(const struct forecast *forecast)
{
    return forecast->resumed.runs + forecast->carried.runs + forecast->retried + forecast->again +
           forecast->begun;
}
