/*
 * The norms of a run over its steps, for the prediction of a boundary: squares of norms over the time in
 * which weights decay. A run that may have ended early has none.
 */
#include "driver/dataset/ledger/ledger.h"
#include "driver/job/inside.h"
#include "driver/sweep/sweep.h"

#include <math.h>

/* Replaces numbers of steps by the decay's time until then. The last step of a run is always measured. */
static void put_decay_times(const struct run *run, struct course *course)
{
    const struct schedule schedule = run_schedule(run, (int64_t)course->time[course->count - 1]);
    int64_t number = 0;
    double sum = 0;

    for (int64_t i = 0; i < course->count; i++) {
        for (int64_t until = (int64_t)course->time[i]; number < until; number++)
            sum += run_decay_time(run, schedule_rate(&schedule, number + 1));
        course->time[i] = sum;
    }
}

bool course_is_of(const struct run *run)
{
    return run_even_decay_factor(run) != 0 && !run_may_end_early(run);
}

/* A row without a norm is of a step that the run has not measured, or only validated. */
bool course_make(const struct run *run, const int64_t *step, int64_t count, struct course *course)
{
    double *square = course->square, *time = course->time;
    bool corrected = run->decay_rule == DECAY_CORRECTED;

    *course = (struct course){.decay = run_even_decay(run), .square = square, .time = time};
    for (int64_t i = 0; i < count; i++)
        if (isfinite(square[i]) && isfinite(time[i])) {
            square[course->count] = square[i] * square[i];
            time[course->count++] = corrected ? (double)step[i] : time[i];
        }
    if (course->count >= 2 && corrected)
        put_decay_times(run, course);
    return course->count >= 2;
}

int course_read(const struct sweep *sweep, struct dataset *dataset, int64_t cell, struct course *course,
    bool *known, struct error *error)
{
    struct run run;

    *known = false;
    sweep_cell(sweep, cell, &run);
    if (!course_is_of(&run))
        return 0;
    if (dataset_read(dataset, cell, METRIC_param_norm, course->square, error) != 0 ||
        dataset_read(dataset, cell, METRIC_rate_sum, course->time, error) != 0)
        return -1;
    *known = course_make(&run, dataset_step_numbers(dataset), dataset_steps(dataset), course);
    return 0;
}
