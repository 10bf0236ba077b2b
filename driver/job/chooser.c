/*
 * Between the dataset and the search: gives the cells that are to be trained, one after the other, and hands
 * results to the search, which then wants others. What it chooses depends on results alone, never on their
 * order, so that every start of a sweep trains the same cells.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/job/inside.h"
#include "driver/search/search.h"
#include "driver/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>

struct chooser {
    const struct sweep *sweep;
    struct dataset *dataset;
    struct search *search; /* NULL: every cell is chosen */
    int64_t next; /* without a search: the next cell to look at */
    bool failed;
    struct error error;
};

static void keep_first(struct chooser *c, int status, const struct error *error)
{
    if (status != 0 && !c->failed)
        c->error = *error;
    c->failed = c->failed || status != 0;
}

/* ---- what the search reads ---- */

static double on_value(void *context, int64_t cell, enum metric metric)
{
    struct chooser *c = context;
    struct error error;
    double value = NAN;

    keep_first(c, dataset_read(c->dataset, cell, metric, &value, &error), &error);
    return value;
}

static bool on_course(void *context, int64_t cell, struct course *course)
{
    struct chooser *c = context;
    struct error error;
    bool known;

    keep_first(c, course_read(c->sweep, c->dataset, cell, course, &known, &error), &error);
    return known;
}

/* ---- choices ---- */

struct chooser *chooser_new(const struct sweep *sweep, struct dataset *dataset)
{
    struct chooser *c = malloc(sizeof(*c));
    const struct search_reader reader = {c, on_value, on_course};

    if (!c)
        return NULL;
    *c = (struct chooser){.sweep = sweep, .dataset = dataset};
    if (sweep->refine.kind != REFINE_NONE)
        c->search = search_new(sweep, &reader, dataset_steps(dataset));
    return c;
}

void chooser_free(struct chooser *c)
{
    if (!c)
        return;
    search_free(c->search);
    free(c);
}

void chooser_take(struct chooser *c, int64_t cell, enum outcome outcome)
{
    if (c->search)
        search_take(c->search, cell, outcome);
}

static enum outcome outcome_of(const struct chooser *c, int64_t cell)
{
    return (enum outcome)dataset_outcomes(c->dataset)[cell];
}

static int64_t next_of_all(struct chooser *c)
{
    while (c->next < c->sweep->cells) {
        int64_t cell = c->next++;
        if (outcome_of(c, cell) == OUTCOME_PENDING)
            return cell;
    }
    return -1;
}

/* The phase of a cell on this side of norm_growth 1. */
static enum phase phase_on(const struct refine *refine, enum side side)
{
    static const enum phase phases[] = {
        [SIDE_ABOVE] = PHASE_GROWING, [SIDE_BELOW] = PHASE_SHRINKING, [SIDE_DIVERGED] = PHASE_DIVERGED};

    if (refine->variable != METRIC_norm_growth || refine->at != 1 || side < SIDE_ABOVE)
        return PHASE_NONE;
    return phases[side];
}

static void leave(struct chooser *c, int64_t cell, enum side implied)
{
    enum phase phase = phase_on(&c->sweep->refine, implied);
    char reason[REASON_SIZE];
    struct error error;

    search_reason(c->search, cell, reason, sizeof(reason));
    keep_first(c, dataset_leave(c->dataset, cell, reason, phase, &error), &error);
}

int64_t chooser_next(struct chooser *c)
{
    struct choice choice;
    struct error error;

    if (!c->search)
        return next_of_all(c);
    while (!c->failed && search_next(c->search, &choice)) {
        if (choice.kind == CHOICE_LEAVE) {
            leave(c, choice.cell, choice.implied);
            continue;
        }
        keep_first(c, dataset_need(c->dataset, choice.cell, &error), &error);
        if (outcome_of(c, choice.cell) == OUTCOME_PENDING)
            return choice.cell;
        search_take(c->search, choice.cell, outcome_of(c, choice.cell));
    }
    return -1;
}

int chooser_check(const struct chooser *c, struct error *error)
{
    if (c->failed)
        *error = c->error;
    return c->failed ? -1 : 0;
}

double chooser_left(const struct chooser *c)
{
    return c->search ? search_left(c->search) : 0;
}
