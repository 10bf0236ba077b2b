/*
 * Which cells are trained. A chooser stands between a sweep's results and its search: it gives the cells that
 * are to be trained, one after the other (chooser_next), and hands their outcomes to the search
 * (chooser_take), which then wants others. What it chooses depends on results alone, never on their order, so
 * that every start of a sweep trains the same cells. A job's chooser reads the open dataset, and writes into
 * it what is left out; that of a plan reads the file that a start would find, and writes nothing.
 *
 * Here is also the sample that verify draws.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/inside.h"
#include "driver/search/search.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "model/core/random.h"

#include <math.h>
#include <stdlib.h>

struct chooser {
    const struct sweep *sweep;
    struct dataset *dataset; /* NULL: that of a plan */
    const struct start_plan *plan;
    struct search *search; /* NULL: every cell is chosen */
    int64_t next; /* without a search: the next cell to look at */
    double share; /* of the cells, that this start may train */
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

/* Reads the values of a metric of one cell. A plan's file may not have the cell, or not the metric. */
static bool read_metric(struct chooser *c, int64_t cell, enum metric metric, double *values)
{
    struct view_variable variable;
    struct error error;

    if (c->dataset) {
        int status = dataset_read(c->dataset, cell, metric, values, &error);
        keep_first(c, status, &error);
        return status == 0;
    }
    int64_t kept = c->plan->kept_cell[cell];
    if (kept < 0 || c->failed || !view_find(&c->plan->view, metric_table[metric].name, &variable))
        return false;
    keep_first(c, view_read_cell(&c->plan->view, &variable, kept, values, &error), &error);
    return !c->failed;
}

static double on_value(void *context, int64_t cell, enum metric metric)
{
    double value = NAN;

    return read_metric(context, cell, metric, &value) ? value : NAN;
}

/* Replaces numbers of steps by the decay's time until then. The last step of a run is always measured. */
static void put_decay_times(const struct run *run, struct norm_curve *curve)
{
    const struct schedule schedule = run_schedule(run, (int64_t)curve->time[curve->count - 1]);
    int64_t number = 0;
    double sum = 0;

    for (int64_t i = 0; i < curve->count; i++) {
        for (int64_t until = (int64_t)curve->time[i]; number < until; number++)
            sum += run_decay_time(run, schedule_rate(&schedule, number + 1));
        curve->time[i] = sum;
    }
}

/* A row without a norm is of a step that the run has not measured, or only validated. */
bool norm_curve_make(const struct run *run, const int64_t *step, int64_t count, struct norm_curve *curve)
{
    double *square = curve->square, *time = curve->time;
    bool corrected = run->decay_rule == DECAY_CORRECTED;

    *curve = (struct norm_curve){.decay = run_even_decay(run), .square = square, .time = time};
    for (int64_t i = 0; i < count; i++)
        if (isfinite(square[i]) && isfinite(time[i])) {
            square[curve->count] = square[i] * square[i];
            time[curve->count++] = corrected ? (double)step[i] : time[i];
        }
    if (curve->count >= 2 && corrected)
        put_decay_times(run, curve);
    return curve->count >= 2;
}

/* There is none if the weights of the layers do not decay alike, or the run may have ended early. */
static bool on_curve(void *context, int64_t cell, struct norm_curve *curve)
{
    struct chooser *c = context;
    const struct view *view = c->dataset ? NULL : &c->plan->view;
    struct run run;

    sweep_cell(c->sweep, cell, &run);
    return run_even_decay_factor(&run) != 0 && !run_may_end_early(&run) &&
           read_metric(c, cell, METRIC_param_norm, curve->square) &&
           read_metric(c, cell, METRIC_rate_sum, curve->time) &&
           norm_curve_make(&run, view ? view->step : dataset_step_numbers(c->dataset),
               view ? view->step_count : dataset_steps(c->dataset), curve);
}

/* ---- choices ---- */

static struct chooser *make(
    const struct sweep *sweep, struct dataset *dataset, const struct start_plan *plan, int64_t steps)
{
    struct chooser *c = memory_new(1, sizeof(*c));
    const struct search_reader reader = {c, on_value, on_curve};

    *c = (struct chooser){.sweep = sweep, .dataset = dataset, .plan = plan, .share = sweep->only ? 0 : 1};
    for (int64_t cell = 0; sweep->only && cell < sweep->cells; cell++)
        c->share += (double)sweep->only[cell] / (double)sweep->cells;
    if (sweep->refine.kind != REFINE_NONE)
        c->search = search_new(sweep, &reader, steps);
    return c;
}

struct chooser *chooser_new(const struct sweep *sweep, struct dataset *dataset)
{
    return make(sweep, dataset, NULL, dataset_steps(dataset));
}

struct chooser *chooser_of_plan(const struct sweep *sweep, const struct start_plan *plan)
{
    return make(sweep, NULL, plan, plan->view.file >= 0 ? plan->view.step_count : 1);
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

/* No result of the cell will be needed. With it goes the phase that it has, if the search is for norm_growth
 * 1 and knows the side. */
static void leave(struct chooser *c, int64_t cell, enum side implied)
{
    static const enum phase phases[] = {
        [SIDE_ABOVE] = PHASE_GROWING, [SIDE_BELOW] = PHASE_SHRINKING, [SIDE_DIVERGED] = PHASE_DIVERGED};
    const struct refine *refine = &c->sweep->refine;
    bool known = refine->variable == METRIC_norm_growth && refine->at == 1 && implied >= SIDE_ABOVE;
    char reason[REASON_SIZE];
    struct error error;

    search_reason(c->search, cell, reason, sizeof(reason));
    keep_first(
        c, dataset_leave(c->dataset, cell, reason, known ? phases[implied] : PHASE_NONE, &error), &error);
}

int64_t chooser_next(struct chooser *c)
{
    const signed char *outcome = c->dataset ? dataset_outcomes(c->dataset) : c->plan->outcome;
    struct choice choice;
    struct error error;

    while (!c->search && c->next < c->sweep->cells)
        if (outcome[c->next++] == OUTCOME_PENDING && sweep_chooses(c->sweep, c->next - 1))
            return c->next - 1;
    while (c->search && !c->failed && search_next(c->search, &choice)) {
        if (choice.kind == CHOICE_LEAVE) {
            if (c->dataset)
                leave(c, choice.cell, choice.implied);
            continue;
        }
        bool ended = outcome[choice.cell] != OUTCOME_PENDING && outcome[choice.cell] != OUTCOME_SKIPPED;
        if (!ended && !sweep_chooses(c->sweep, choice.cell))
            continue; /* the search waits for its result */
        if (c->dataset)
            keep_first(c, dataset_need(c->dataset, choice.cell, &error), &error);
        else if (outcome[choice.cell] == OUTCOME_SKIPPED) /* dataset_need would make it pending */
            return choice.cell;
        if (outcome[choice.cell] == OUTCOME_PENDING)
            return choice.cell;
        search_take(c->search, choice.cell, (enum outcome)outcome[choice.cell]);
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
    return c->search ? c->share * search_left(c->search) : 0;
}

/* ---- a sample ---- */

struct numbered_cell {
    uint64_t number; /* random, of the cell's own */
    int64_t cell;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered_cell *x = a, *y = b;

    if (x->number != y->number)
        return (x->number > y->number) - (x->number < y->number);
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static int by_cell(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int64_t sample_cells(int64_t *cell, int64_t count, int64_t wanted, uint64_t seed)
{
    struct numbered_cell *numbered = memory_new((size_t)count, sizeof(*numbered));
    int64_t drawn = wanted < count ? wanted : count;

    for (int64_t i = 0; i < count; i++)
        numbered[i] = (struct numbered_cell){random_bits(seed, RANDOM_DRAW, (uint64_t)cell[i]), cell[i]};
    qsort(numbered, (size_t)count, sizeof(*numbered), by_number);
    for (int64_t i = 0; i < drawn; i++)
        cell[i] = numbered[i].cell;
    qsort(cell, (size_t)drawn, sizeof(*cell), by_cell);
    free(numbered);
    return drawn;
}
