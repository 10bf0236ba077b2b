/*
 * What a job would do, without one, for the plan of a start. Which runs would be trained is the answer of
 * chooser.c, from which step that of the keeper (keeper.c); both read the files that a start would read, and
 * fail where these cannot be read.
 */
#include "driver/job/inside.h"
#include "driver/text/text.h"

#include <stdlib.h>

static void take_step(struct forecast_steps *steps, int64_t step)
{
    steps->least = steps->runs && steps->least < step ? steps->least : step;
    steps->most = steps->runs && steps->most > step ? steps->most : step;
    steps->sum += step;
    steps->runs++;
}

/* Counts a run that would be trained. Files of runs are set aside with --fresh; of a shorter sweep, only the
 * states stay. */
static int count_run(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, const struct trunks *trunks, const bool *chosen, const char *folder,
    int64_t cell, struct error *error)
{
    int64_t step = 0, shared = 0, other = trunks_before(trunks, cell, &shared);
    enum outcome before = (enum outcome)plan->before[cell];
    enum resumption resumption = RESUME_NONE;
    struct keeper keeper = {.folder = folder};
    struct digest digest;
    struct run run;

    sweep_cell(sweep, cell, &run);
    if (plan->fate != START_SETS_ASIDE) {
        sweep_run_digest(sweep, corpus, &run, &digest);
        keeper_begin(&keeper, &digest, 1, true);
        if (trunks_has(trunks, cell) || run.save_weights == SAVE_STATE) {
            sweep_trunk_digest(sweep, corpus, &run, &digest);
            keeper_share(&keeper, &digest);
        }
        if (keeper_look(&keeper, &run, run_last_step(&run, corpus), &step, &resumption, error) != 0)
            return -1;
    }
    if (resumption == RESUME_CHECKPOINT && plan->fate != START_GROWS)
        take_step(&forecast->resumed, step);
    else if (resumption == RESUME_STATE)
        take_step(&forecast->carried, step);
    else if (other >= 0 && chosen[other])
        take_step(&forecast->shared, shared);
    else if (before == OUTCOME_FAILED)
        forecast->retried++;
    else if (before == OUTCOME_RUNNING)
        forecast->again++;
    else
        forecast->begun++;
    return 0;
}

int forecast_make(struct forecast *forecast, const struct sweep *sweep, const struct corpus *corpus,
    const struct start_plan *plan, struct error *error)
{
    bool *chosen = memory_zero((size_t)sweep->cells, sizeof(*chosen));
    struct chooser *chooser = chooser_new(sweep, corpus, NULL, plan);
    struct trunks *trunks = trunks_new(sweep, corpus);
    char *folder = folder_of(sweep->output);

    if (!folder)
        memory_end();
    for (int64_t cell; (cell = chooser_next(chooser)) >= 0;)
        chosen[cell] = true;
    *forecast = (struct forecast){.later = chooser_left(chooser)};
    int result = chooser_check(chooser, error);
    for (int64_t cell = 0; result == 0 && cell < sweep->cells; cell++)
        if (chosen[cell])
            result = count_run(forecast, sweep, corpus, plan, trunks, chosen, folder, cell, error);
        else if (plan->outcome[cell] != OUTCOME_PENDING)
            forecast->kept[plan->outcome[cell]]++;
        else
            forecast->waiting += !sweep_chooses(sweep, cell);
    if (forecast_pending(forecast) == 0) /* no run ends from whose result a search would go on */
        forecast->later = 0;
    trunks_free(trunks);
    chooser_free(chooser);
    free(chosen);
    free(folder);
    return result;
}

int64_t forecast_pending(const struct forecast *forecast)
{
    return forecast->resumed.runs + forecast->carried.runs + forecast->shared.runs + forecast->retried +
           forecast->again + forecast->begun;
}
