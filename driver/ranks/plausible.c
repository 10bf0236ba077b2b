/*
 * What dispatch.c checks of every message before it uses it: see driver/ranks/inside.h. The bounds come from
 * the run of the cell, and from what the dataset can hold. Nothing here can fail.
 */
#include "driver/ranks/inside.h"

#include <limits.h>
#include <string.h>

static bool is_within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static int64_t last_step_of(const struct job *job, int64_t cell)
{
    struct run run;

    sweep_cell(job->sweep, cell, &run);
    return run_last_step(&run, job->corpus);
}

bool plausible_hello(const struct hello *hello)
{
    return hello->process.pid > 0 && memchr(hello->process.place, '\0', PROCESS_PLACE) &&
           is_within(hello->seat.number, -1, INT_MAX) && is_within(hello->seat.count, -1, INT_MAX);
}

/* Seconds: more than any step takes; a worker with more patience would never be given up. */
#define PATIENCE_BELIEVED 0x1p25

bool plausible_progress(const struct job *job, int64_t cell, const struct run_progress *progress)
{
    if (!(progress->patience >= 0 && progress->patience <= PATIENCE_BELIEVED))
        return false;
    if (cell < 0)
        return true;
    return progress->last_step == last_step_of(job, cell) &&
           is_within(progress->step, -1, progress->last_step) && progress->tokens >= 0;
}

/* The dataset has the steps of all runs; a run sends the rows of its own. */
bool plausible_row(const struct job *job, int64_t cell, const struct row_piece *row)
{
    const struct measure *measure = &job->sweep->measure;

    if (cell < 0)
        return true;
    int64_t last_step = last_step_of(job, cell);
    bool has_step = row->step == STEP_OF_RUN ||
                    (is_within(row->step, 0, last_step) && (measure_at(measure, row->step, last_step) ||
                                                               validate_at(measure, row->step, last_step)));
    return has_step && row->offset >= 0 && row->count >= 1 &&
           dataset_has_values(job->dataset, cell, row->step, (size_t)row->offset, (size_t)row->count);
}

_Static_assert(
    OUTCOME_DIVERGED == OUTCOME_DONE + 1 && OUTCOME_FAILED == OUTCOME_DONE + 2, "the ends of a run");

/* A run that is handed back has no result. */
bool plausible_result(const struct job *job, int64_t cell, const struct result *result)
{
    if (cell < 0 || result->outcome == OUTCOME_PENDING)
        return true;
    int64_t last_step = last_step_of(job, cell);
    return is_within(result->outcome, OUTCOME_DONE, OUTCOME_FAILED) &&
           is_within(result->last_step, 0, last_step) && is_within(result->diverged_step, -1, last_step) &&
           result->tokens >= 0 && is_within(result->dynamics, 0, DYNAMICS_COUNT - 1) &&
           is_within(result->ended_early, 0, EARLY_COUNT - 1) &&
           memchr(result->reason, '\0', sizeof(result->reason));
}
