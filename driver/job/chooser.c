/*
 * Which cells are trained. A chooser stands between a sweep's results and its search: it gives the cells that
 * are to be trained, one after the other (chooser_next), and hands their outcomes to the search
 * (chooser_take), which then wants others. What it chooses depends on results alone, never on their order, so
 * that every start of a sweep trains the same cells. A job's chooser reads the open dataset, and writes into
 * it what is left out; that of a plan reads the file that a start would find, and writes nothing.
 *
 * Here is also what chooses cells without results: the sample that verify draws, and the parts of a sweep
 * that is divided, each trained by a `run --part I/N` of its own.
 */
#include "driver/job/inside.h"
#include "driver/text/text.h"
#include "model/core/random.h"

#include <math.h>
#include <stdlib.h>

struct chooser {
    const struct sweep *sweep;
    const struct corpus *corpus;
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

/* The decay's time at a step, after that of an earlier one. */
static double decay_time(
    const struct run *run, const struct schedule *schedule, int64_t from, int64_t until, double time)
{
    for (int64_t number = from; number < until; number++)
        time += run_decay_time(run, schedule_rate(schedule, number + 1));
    return time;
}

/*
 * A row without a norm is of a step that the run has not measured, or only validated, or not reached, as it
 * ended early. Behind its end, the source of driver/search/prediction.c is the mean of the last quarter.
 */
bool norm_curve_make(const struct run *run, const struct measure *measure, int64_t last_step,
    const int64_t *step, int64_t count, struct norm_curve *curve)
{
    const struct schedule schedule = run_schedule(run, last_step);
    double *square = curve->square, *time = curve->time, source = 0, decay = run_even_decay(run);
    int64_t before = 0, row = 0;

    *curve = (struct norm_curve){.decay = decay, .square = square, .time = time};
    for (int64_t i = 0; i < count; i++)
        if (isfinite(square[i]) && isfinite(time[i])) {
            int64_t at = curve->count++;
            square[at] = square[i] * square[i];
            time[at] = time[i];
            if (run->decay_rule == DECAY_CORRECTED)
                time[at] = decay_time(run, &schedule, before, step[i], at > 0 ? time[at - 1] : 0);
            before = step[i];
            row = i + 1;
        }
    if (curve->count < 2)
        return false;
    int64_t last = curve->count - 1, begin = 3 * last / 4;
    for (int64_t k = begin; k < last; k++) {
        double h = time[k + 1] - time[k];
        source += exp(decay * h) * square[k + 1] - exp(-decay * h) * square[k];
    }
    source /= time[last] - time[begin];
    for (int64_t i = row; i < count && step[i] <= last_step; i++)
        if (measure_at(measure, step[i], last_step)) {
            int64_t at = curve->count++;
            time[at] = decay_time(run, &schedule, before, step[i], time[at - 1]);
            double h = time[at] - time[at - 1];
            square[at] = exp(-2 * decay * h) * square[at - 1] + exp(-decay * h) * h * source;
            before = step[i];
        }
    curve->early = curve->count - 1 > last;
    return true;
}

/* There is none if the weights of the layers do not decay alike. */
static bool on_curve(void *context, int64_t cell, struct norm_curve *curve)
{
    struct chooser *c = context;
    const struct view *view = c->dataset ? NULL : &c->plan->view;
    struct run run;

    sweep_cell(c->sweep, cell, &run);
    return run_even_decay_factor(&run) != 0 && read_metric(c, cell, METRIC_param_norm, curve->square) &&
           read_metric(c, cell, METRIC_rate_sum, curve->time) &&
           norm_curve_make(&run, &c->sweep->measure, run_last_step(&run, c->corpus),
               view ? view->step : dataset_layout(c->dataset)->step,
               view ? view->step_count : dataset_layout(c->dataset)->step_count, curve);
}

/* ---- choices ---- */

struct chooser *chooser_new(const struct sweep *sweep, const struct corpus *corpus, struct dataset *dataset,
    const struct start_plan *plan)
{
    struct chooser *c = memory_new(1, sizeof(*c));
    const struct search_reader reader = {c, on_value, on_curve};
    int64_t steps = 1;

    if (dataset)
        steps = dataset_layout(dataset)->step_count;
    else if (plan->view.file >= 0)
        steps = plan->view.step_count;
    *c = (struct chooser){
        .sweep = sweep, .corpus = corpus, .dataset = dataset, .plan = plan, .share = sweep->only ? 0 : 1};
    for (int64_t cell = 0; sweep->only && cell < sweep->cells; cell++)
        c->share += (double)sweep->only[cell] / (double)sweep->cells;
    if (sweep->refine.kind != REFINE_NONE)
        c->search = search_new(sweep, &reader, steps);
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

/* ---- without results ---- */

static int by_number(const void *context, int64_t a, int64_t b)
{
    const uint64_t *number = context;

    return (number[a] > number[b]) - (number[a] < number[b]);
}

int64_t sample_cells(int64_t *cell, int64_t count, int64_t wanted, uint64_t seed)
{
    uint64_t *number = memory_new((size_t)count, sizeof(*number));
    bool *drawn = memory_zero((size_t)count, sizeof(*drawn));
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++)
        number[i] = random_bits(seed, RANDOM_DRAW, (uint64_t)cell[i]);
    int64_t *order = memory_sorted(count, by_number, number);
    for (int64_t i = 0; i < wanted && i < count; i++)
        drawn[order[i]] = true;
    for (int64_t i = 0; i < count; i++)
        if (drawn[i])
            cell[kept++] = cell[i];
    free(number);
    free(drawn);
    free(order);
    return kept;
}

static int in_order(const void *a, const void *b)
{
    return pending_run_compare(a, b);
}

/*
 * The runs are dealt out like cards, in the order in which a coordinator would hand them out: so parts take
 * about equally long, and each of them begins with a coarse grid. Runs that share steps come into one part.
 * The order follows from the sweep file and the corpus alone. The dataset of a part is laid out for the whole
 * sweep, and records a digest of the sweep and of this order, by which parts of another division are
 * recognised: a sweep that has grown deals its runs out anew.
 */
void job_divide(struct sweep *sweep, const struct corpus *corpus)
{
    struct pending_run *run = memory_new((size_t)sweep->cells, sizeof(*run));
    char text[DIGEST_TEXT];
    struct digest digest;
    struct trunks *trunks = trunks_new(sweep, corpus);
    int64_t count = 0, step;
    struct walk walk;

    walk_init(&walk, sweep);
    for (; walk_next(&walk); count++)
        run[count] = (struct pending_run){.cell = walk.cell,
            .cost = train_cost(&walk.run, corpus, &sweep->measure),
            .turn = sweep_turn(sweep, walk.cell)};
    qsort(run, (size_t)count, sizeof(*run), in_order);
    sweep_digest(sweep, corpus, &digest);
    sweep->part_of = memory_zero((size_t)sweep->cells, sizeof(*sweep->part_of));
    for (int64_t i = 0, dealt = 0; i < count; i++) {
        int64_t cell = run[i].cell, first = cell;
        for (int64_t other; (other = trunks_before(trunks, first, &step)) >= 0;)
            first = other;
        if (!sweep->part_of[first])
            sweep->part_of[first] = (int)(dealt++ % sweep->parts) + 1;
        sweep->part_of[cell] = sweep->part_of[first];
        digest_add(&digest, &run[i].cell, sizeof(run[i].cell));
    }
    digest_format(&digest, text);
    sweep->part_text = memory_format("%d/%d %s", sweep->part, sweep->parts, text);
    trunks_free(trunks);
    free(run);
}
