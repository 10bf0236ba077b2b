#include "driver/job/course.h"

#include "driver/dataset/read.h"
#include "driver/sweep/grid.h"

#include <math.h>

/* A row without a norm is of a step that the run has not measured, or only validated. */
int course_read(const struct sweep *sweep, struct dataset *dataset, int64_t cell, struct course *course,
    bool *known, struct error *error)
{
    double *square = course->square, *time = course->time;
    struct run run;

    *known = false;
    sweep_cell(sweep, cell, &run);
    *course = (struct course){.decay = run_decay(&run), .square = square, .time = time};
    if (run_decay_factor(&run) == 0 || run_may_end_early(&run))
        return 0;
    if (dataset_read(dataset, cell, METRIC_param_norm, square, error) != 0 ||
        dataset_read(dataset, cell, METRIC_rate_sum, time, error) != 0)
        return -1;
    for (int64_t i = 0; i < dataset_steps(dataset); i++)
        if (isfinite(square[i]) && isfinite(time[i])) {
            square[course->count] = square[i] * square[i];
            time[course->count++] = time[i];
        }
    *known = course->count >= 2;
    return 0;
}
