/*
 * A start without its writes. The decisions are those of settle.c, which a prospect goes through like a
 * start; only the outcomes, which a start reads from the new file, are worked out here.
 */
#include "driver/dataset/prospect_inside.h"

#include "driver/dataset/settle.h"
#include "driver/dataset/variables.h"
#include "driver/output/output.h"
#include "driver/sweep/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The outcome of a cell in the new file: only runs that were ever started are copied. */
static enum outcome copied_outcome(const struct prospect *prospect, enum outcome outcome, bool started)
{
    return prospect->fate == PROSPECT_CONTINUED || started ? outcome : OUTCOME_PENDING;
}

int prospect_keep(
    struct prospect *prospect, const struct view *view, const struct mapping *mapping, struct error *error)
{
    double *attempts = view_cells(view, run_variable_table[RUN_VARIABLE_attempts].name, error);
    signed char *outcome = calloc((size_t)view->cells + 1, 1);
    int result = -1;

    if (attempts && outcome)
        result = view_outcomes(view, outcome, error);
    else if (attempts)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++) {
        int64_t to = mapping_cell(mapping, view, cell);
        prospect->place[to] = cell;
        prospect->before[to] = outcome[cell];
        prospect->outcome[to] =
            (signed char)copied_outcome(prospect, (enum outcome)outcome[cell], attempts[cell] > 0);
    }
    free(attempts);
    free(outcome);
    return result;
}

static int reserve(struct prospect *prospect, const struct sweep *sweep)
{
    size_t cells = (size_t)sweep->cells;

    *prospect = (struct prospect){.fate = PROSPECT_CONTINUED, .cells = sweep->cells};
    prospect->place = malloc(cells * sizeof(*prospect->place));
    prospect->before = malloc(cells);
    prospect->outcome = malloc(cells);
    if (!prospect->place || !prospect->before || !prospect->outcome)
        return -1;
    memset(prospect->before, OUTCOME_PENDING, cells);
    memset(prospect->outcome, OUTCOME_PENDING, cells);
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        prospect->place[cell] = -1;
    return 0;
}

/* Goes the way of dataset_open. */
static int look(struct dataset *dataset, const struct sweep *sweep, const struct corpus *corpus,
    const struct dataset_options *options, struct error *error)
{
    struct prospect *prospect = dataset->prospect;

    dataset->path = output_resolve(dataset->name);
    if (!dataset->path)
        return dataset_error(dataset, errno, error);
    if (layout_init(&dataset->layout, sweep, corpus, error) != 0 ||
        dataset_settle(dataset, options, error) != 0)
        return -1;
    prospect->longer = dataset->longer;
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        prospect->outcome[cell] = (signed char)dataset_first_outcome(
            sweep, cell, (enum outcome)prospect->outcome[cell], options->retry_failed);
    return 0;
}

int prospect_make(struct prospect *prospect, const char *path, const struct sweep *sweep,
    const struct corpus *corpus, const struct dataset_options *options, struct error *error)
{
    *prospect = (struct prospect){0};
    struct dataset dataset = {.name = strdup(path), .prospect = prospect, .buffer.descriptor = -1};
    int result = dataset.name && reserve(prospect, sweep) == 0
                     ? look(&dataset, sweep, corpus, options, error)
                     : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);

    layout_release(&dataset.layout);
    free(dataset.name);
    free(dataset.path);
    if (result != 0)
        prospect_release(prospect);
    return result;
}

void prospect_release(struct prospect *prospect)
{
    free(prospect->place);
    free(prospect->before);
    free(prospect->outcome);
    *prospect = (struct prospect){0};
}
