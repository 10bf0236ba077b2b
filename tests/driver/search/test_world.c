/* Made-up results: the norms of runs with a constant source. */
#include "driver/search/reason.h"
#include "driver/sweep/grid.h"
#include "model/core/random.h"
#include "tests/driver/search/world.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 5 };

static double drawn(struct world *w)
{
    return random_uniform(w->seed, RANDOM_TEST, w->draws++);
}

bool world_begin(struct world *w, const char *text)
{
    struct error error;

    *w = (struct world){.boundary = 0.01, .diverges = INFINITY, .fails = -1};
    if (sweep_parse(&w->sweep, "sweep.yaml", "", text, strlen(text), NULL, 0, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return false;
    }
    size_t cells = (size_t)w->sweep.cells;
    w->chosen = calloc(cells, sizeof(*w->chosen));
    w->left = calloc(cells, sizeof(*w->left));
    w->ended = calloc(cells, sizeof(*w->ended));
    w->reason = calloc(cells, sizeof(*w->reason));
    w->implied = calloc(cells, sizeof(*w->implied));
    w->waiting = calloc(cells, sizeof(*w->waiting));
    return true;
}

void world_clear(struct world *w)
{
    size_t cells = (size_t)w->sweep.cells;

    memset(w->chosen, 0, cells * sizeof(*w->chosen));
    memset(w->left, 0, cells * sizeof(*w->left));
    memset(w->ended, 0, cells * sizeof(*w->ended));
    w->waits = w->trained = w->courses = 0;
}

void world_end(struct world *w)
{
    free(w->chosen);
    free(w->left);
    free(w->ended);
    free(w->reason);
    free(w->implied);
    free(w->waiting);
    sweep_release(&w->sweep);
}

/* ---- results ---- */

static double source_of(const struct world *w, const struct run *run)
{
    return w->boundary / run->learning_rate * (1 + 0.1 * (double)run->seed);
}

/* rho at step k of a run whose source is constant. */
static double square_at(const struct world *w, const struct run *run, int k)
{
    double square = 4, h = run->learning_rate;

    for (int i = 0; i < k; i++)
        square = exp(-2 * run_decay(run) * h) * square +
                 exp(-run_decay(run) * h) * 8 * sinh(source_of(w, run) * h);
    return square;
}

enum outcome world_outcome(const struct world *w, int64_t cell)
{
    struct run run;

    sweep_cell(&w->sweep, cell, &run);
    if (cell == w->fails)
        return OUTCOME_FAILED;
    double decay = run.learning_rate * run.weight_decay;
    return decay > w->diverges || decay < w->calms ? OUTCOME_DIVERGED : OUTCOME_DONE;
}

static double on_value(void *context, int64_t cell, enum metric metric)
{
    const struct world *w = context;
    struct run run;

    CHECK(w->ended[cell] && world_outcome(w, cell) == OUTCOME_DONE);
    CHECK(metric == METRIC_norm_growth || metric == METRIC_final_train_loss);
    sweep_cell(&w->sweep, cell, &run);
    return sqrt(square_at(w, &run, STEPS - 1) / 4);
}

/* A diverged run has norms of its first steps alone. */
static bool on_course(void *context, int64_t cell, struct course *course)
{
    struct world *w = context;
    struct run run;

    CHECK(w->ended[cell] && world_outcome(w, cell) == OUTCOME_DONE);
    w->courses++;
    if (w->timeless)
        return false;
    sweep_cell(&w->sweep, cell, &run);
    course->decay = run_decay(&run);
    course->count = world_outcome(w, cell) == OUTCOME_DIVERGED ? 2 : STEPS;
    for (int k = 0; k < STEPS; k++) {
        course->square[k] = k < course->count ? square_at(w, &run, k) : 1e9 * drawn(w);
        course->time[k] = k * run.learning_rate;
    }
    return true;
}

/* ---- the search ---- */

struct search *world_search(struct world *w)
{
    const struct search_reader reader = {w, on_value, on_course};

    return search_new(&w->sweep, &reader, STEPS);
}

static void take_choices(struct world *w, struct search *search)
{
    struct choice choice;

    while (search_next(search, &choice)) {
        bool there = choice.cell >= 0 && choice.cell < w->sweep.cells;
        CHECK(there && !sweep_skips(&w->sweep, choice.cell));
        if (!there)
            return;
        CHECK(w->chosen[choice.cell] + w->left[choice.cell] == 0);
        if (choice.kind == CHOICE_TRAIN) {
            w->chosen[choice.cell]++;
            w->waiting[w->waits++] = choice.cell;
        } else {
            w->left[choice.cell]++;
            search_reason(search, choice.cell, w->reason[choice.cell], REASON_MOST);
            w->implied[choice.cell] = choice.implied;
        }
    }
}

/* Ends one run that waits, drawn at random; and says things about cells that were not asked for. */
static void end_one(struct world *w, struct search *search)
{
    int64_t at = (int64_t)((double)w->waits * drawn(w)), cell = w->waiting[at];
    int64_t other = (int64_t)((double)w->sweep.cells * drawn(w));

    if (!w->chosen[other] || w->ended[other]) {
        bool was = w->ended[other];
        w->ended[other] = true;
        search_take(search, other, drawn(w) < 0.5 ? OUTCOME_DIVERGED : OUTCOME_DONE);
        w->ended[other] = was;
    }
    w->waiting[at] = w->waiting[--w->waits];
    w->ended[cell] = true;
    w->trained++;
    search_take(search, cell, world_outcome(w, cell));
}

void world_play(struct world *w, uint64_t seed)
{
    struct search *search = world_search(w);

    w->seed = seed;
    if (!search) {
        test_fail(__FILE__, __LINE__, "no memory");
        return;
    }
    double before = search_left(search);
    CHECK(before >= 0 && before <= (double)w->sweep.cells);
    take_choices(w, search);
    while (w->waits > 0) {
        CHECK(search_left(search) >= -1e-9);
        end_one(w, search);
        take_choices(w, search);
    }
    CHECK_CLOSE(search_left(search), 0, 0);
    for (int64_t cell = 0; cell < w->sweep.cells; cell++) {
        CHECK(w->chosen[cell] + w->left[cell] == !sweep_skips(&w->sweep, cell));
        CHECK(w->chosen[cell] == w->ended[cell]);
    }
    search_free(search);
}

int world_side(struct world *w, int64_t cell)
{
    bool was = w->ended[cell];

    if (world_outcome(w, cell) != OUTCOME_DONE)
        return world_outcome(w, cell) == OUTCOME_FAILED ? 0 : 3;
    w->ended[cell] = true;
    double value = on_value(w, cell, w->sweep.refine.variable);
    w->ended[cell] = was;
    return value > w->sweep.refine.at ? 1 : 2;
}

/* ---- lines ---- */

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

int64_t world_line(const struct world *w, int64_t cell, double (*line)[2])
{
    int64_t axis = w->sweep.refine.axis[0], length = w->sweep.axis[axis].length, stride = 1, count = 0;

    for (int64_t a = w->sweep.axis_count - 1; a > axis; a--)
        stride *= w->sweep.axis[a].length;
    int64_t first = cell - cell / stride % length * stride;
    for (int64_t i = 0; i < length; i++) {
        struct run run;
        int64_t at = first + i * stride;
        const struct param *param = w->sweep.axis[axis].param[0];
        if (sweep_skips(&w->sweep, at))
            continue;
        sweep_cell(&w->sweep, at, &run);
        line[count][0] =
            param->kind == PARAM_REAL ? param_get(param, &run).real : (double)param_get(param, &run).integer;
        line[count++][1] = (double)at;
    }
    qsort(line, (size_t)count, sizeof(*line), compare);
    return count;
}
