#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/inside.h"

#include <stdio.h>

/* norm_growth of runs that ended in earlier starts. */
static double *read_growth(const struct sweep *sweep)
{
    struct error ignored;
    struct view view;
    double *growth = NULL;

    if (view_open(&view, sweep->output, &ignored) != 0)
        return NULL;
    if (view.cells == sweep->cells)
        growth = view_cells(&view, metric_table[METRIC_norm_growth].name, &ignored);
    view_close(&view);
    return growth;
}

struct progress *display_new(
    const struct sweep *sweep, const struct dataset *dataset, int workers, double now, double **growth)
{
    struct terminal terminal = progress_terminal();

    *growth = terminal.rows > 0 ? read_growth(sweep) : NULL;
    struct picture_runs runs = {.axis_count = sweep->axis_count,
        .axis = sweep->axis,
        .outcome = dataset_outcomes(dataset),
        .growth = *growth,
        .live = true};
    struct progress *progress = progress_new(stderr, &terminal, workers, &runs, now);
    if (progress)
        progress_follow(progress);
    return progress;
}
