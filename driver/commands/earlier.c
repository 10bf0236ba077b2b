/* What an earlier start has left at a sweep's output, for commands that do not write it. */
#include "driver/commands/earlier.h"

#include "driver/dataset/ledger.h"
#include "driver/dataset/variables.h"
#include "driver/dataset/verify.h"
#include "driver/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sweep's cells [cells] without any place; NULL with the error set. */
static int64_t *no_places(const struct view *view, const struct sweep *sweep, struct error *error)
{
    int64_t *place = malloc((size_t)sweep->cells * sizeof(*place));

    if (!place)
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    for (int64_t cell = 0; place && cell < sweep->cells; cell++)
        place[cell] = -1;
    return place;
}

int earlier_places(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **place, int64_t *shorter, struct error *error)
{
    struct layout layout;
    struct mapping mapping;

    if (layout_init(&layout, sweep, corpus, error) != 0)
        return -1;
    int result = mapping_init(&mapping, view, &layout, error);
    if (result == 0) {
        *place = no_places(view, sweep, error);
        result = *place ? 0 : -1;
        *shorter = mapping.shorter;
        for (int64_t cell = 0; result == 0 && !mapping.shorter && cell < view->cells; cell++)
            (*place)[mapping_cell(&mapping, view, cell)] = cell;
        mapping_release(&mapping);
    }
    layout_release(&layout);
    return result;
}

/* A search that has left out every cell that did not end needs nothing more: its cells all count as ended. */
static void end_search(
    const struct sweep *sweep, const signed char *outcome, const int64_t *place, bool *ended)
{
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        if (!ended[cell] && (place[cell] < 0 || outcome[place[cell]] != OUTCOME_SKIPPED))
            return;
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        ended[cell] = true;
}

/* Marks the cells of the sweep whose runs have ended in the file. */
static int read_ended(const struct view *view, const int64_t *place, const struct sweep *sweep, bool **ended,
    struct error *error)
{
    signed char *outcome = calloc((size_t)view->cells + 1, 1);
    bool *found = calloc((size_t)sweep->cells + 1, sizeof(*found));
    int result = -1;

    if (outcome && found)
        result = view_outcomes(view, outcome, error);
    else
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    for (int64_t cell = 0; result == 0 && cell < sweep->cells; cell++) {
        signed char there = place[cell] >= 0 ? outcome[place[cell]] : OUTCOME_PENDING;
        found[cell] = there >= OUTCOME_DONE && there != OUTCOME_SKIPPED;
    }
    if (result == 0 && sweep->refine.kind != REFINE_NONE)
        end_search(sweep, outcome, place, found);
    free(outcome);
    if (result == 0)
        *ended = found;
    else
        free(found);
    return result;
}

/* The checks of dataset_open, in its order. */
static int read_view(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    bool **ended, struct longer *longer, struct error *error)
{
    int64_t *place, shorter;

    if (verify_dataset(view, error) != 0 || earlier_places(view, sweep, corpus, &place, &shorter, error) != 0)
        return -1;
    int result = shorter ? longer_find(longer, view->name, sweep, corpus, shorter, error) : 0;
    if (result == 0)
        result = read_ended(view, place, sweep, ended, error);
    free(place);
    return result;
}

int earlier_runs(const struct sweep *sweep, const struct corpus *corpus, bool **ended, struct longer *longer,
    struct error *error)
{
    struct view view;
    mode_t kind;

    *ended = NULL;
    *longer = (struct longer){0};
    if (output_exists(sweep->output, &kind) <= 0) /* nothing that could be read; `plan` checks the folder */
        return 0;
    if (access(sweep->output, W_OK) != 0)
        return error_set(error, ERROR_INPUT, "%s: %s", sweep->output, strerror(errno));
    if (view_open(&view, sweep->output, error) != 0)
        return -1;
    int result = read_view(&view, sweep, corpus, ended, longer, error);
    view_close(&view);
    return result;
}
