/* Searches of whole sweeps, along lines and in planes, whose results are made up. */
#include "driver/search/inside.h"
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/random.h"
#include "tests/test.h"

#define DECAYS20                                                                                             \
    "weight_decay: [0.01, 0.0126, 0.0158, 0.02, 0.0251, 0.0316, 0.0398, 0.0501, 0.0631, 0.0794, 0.1, "       \
    "0.126, 0.158, 0.2, 0.251, 0.316, 0.398, 0.501, 0.631, 0.794]\n"

enum { STEPS = 5, LINE_MOST = 64, REASON_MOST = 256 };

/* What a run gives. The boundary in weight_decay is `boundary` / learning_rate; none: NAN. */
struct world {
    struct sweep sweep;
    double boundary;
    double diverges; /* learning_rate * weight_decay above which a run diverges */
    double calms; /* the same, below which a run diverges */
    int64_t fails; /* a cell; -1: none */
    bool timeless; /* no norms are known */
    int curves; /* that were asked for */
    int *chosen, *left; /* [cells] how often */
    bool *ended; /* [cells] */
    char (*reason)[REASON_MOST]; /* [cells] */
    enum side *implied; /* [cells] of those that are left out */
    int64_t *waiting; /* [cells] chosen, without a result */
    int64_t waits, trained;
    uint64_t seed, draws;
};

static double drawn(struct world *w)
{
    return random_uniform(w->seed, RANDOM_TEST, w->draws++);
}

/* Reads the sweep; false, and the test fails, if it is refused. */
static bool world_begin(struct world *w, const char *text)
{
    char whole[1024];
    struct error error;

    snprintf(whole, sizeof(whole), "corpus: markov\nsteps: 10\n%s", text);
    *w = (struct world){.boundary = 0.01, .diverges = INFINITY, .fails = -1};
    if (sweep_parse(&w->sweep, "sweep.yaml", "", whole, strlen(whole), NULL, 0, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return false;
    }
    size_t cells = (size_t)w->sweep.cells;
    w->chosen = memory_zero(cells, sizeof(*w->chosen));
    w->left = memory_zero(cells, sizeof(*w->left));
    w->ended = memory_zero(cells, sizeof(*w->ended));
    w->reason = memory_zero(cells, sizeof(*w->reason));
    w->implied = memory_zero(cells, sizeof(*w->implied));
    w->waiting = memory_zero(cells, sizeof(*w->waiting));
    return true;
}

/* Forgets what has become of the runs. */
static void world_clear(struct world *w)
{
    size_t cells = (size_t)w->sweep.cells;

    memset(w->chosen, 0, cells * sizeof(*w->chosen));
    memset(w->left, 0, cells * sizeof(*w->left));
    memset(w->ended, 0, cells * sizeof(*w->ended));
    w->waits = w->trained = w->curves = 0;
}

static void world_end(struct world *w)
{
    free(w->chosen);
    free(w->left);
    free(w->ended);
    free(w->reason);
    free(w->implied);
    free(w->waiting);
    sweep_release(&w->sweep);
}

/* A test in the world of a sweep. */
#define IN_WORLD(id, text)                                                                                   \
    static void in_world_##id(struct world *w);                                                              \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        struct world w;                                                                                      \
        if (!world_begin(&w, text))                                                                          \
            return;                                                                                          \
        in_world_##id(&w);                                                                                   \
        world_end(&w);                                                                                       \
    }                                                                                                        \
    static void in_world_##id(struct world *w)

/* ---- results ---- */

/* rho at step k of a run whose source is constant. */
static double square_at(const struct world *w, const struct run *run, int k)
{
    double square = 4, h = run->learning_rate;
    double source = w->boundary / run->learning_rate * (1 + 0.1 * (double)run->seed);

    for (int i = 0; i < k; i++)
        square = exp(-2 * run_decay(run) * h) * square + exp(-run_decay(run) * h) * 8 * sinh(source * h);
    return square;
}

static enum outcome world_outcome(const struct world *w, int64_t cell)
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
static bool on_curve(void *context, int64_t cell, struct norm_curve *curve)
{
    struct world *w = context;
    struct run run;

    CHECK(w->ended[cell] && world_outcome(w, cell) == OUTCOME_DONE);
    w->curves++;
    if (w->timeless)
        return false;
    sweep_cell(&w->sweep, cell, &run);
    curve->decay = run_decay(&run);
    curve->count = world_outcome(w, cell) == OUTCOME_DIVERGED ? 2 : STEPS;
    for (int k = 0; k < STEPS; k++) {
        curve->square[k] = k < curve->count ? square_at(w, &run, k) : 1e9 * drawn(w);
        curve->time[k] = k * run.learning_rate;
    }
    return true;
}

/* ---- the search ---- */

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

/* Plays a sweep to its end; results come in an order drawn from the seed. Every cell is chosen or left, once.
 */
static void world_play(struct world *w, uint64_t seed)
{
    const struct search_reader reader = {w, on_value, on_curve};
    struct search *search = search_new(&w->sweep, &reader, STEPS);

    w->seed = seed;
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

/* 1: above, 2: below, 3: diverged, 0: failed. */
static int world_side(struct world *w, int64_t cell)
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

/* Fills the line of a cell along the first refined axis, without skipped cells: [count][2], value and cell,
 * in ascending order. Returns count. */
static int64_t world_line(const struct world *w, int64_t cell, double (*line)[2])
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

/* ---- searches along lines ---- */

#define SHUFFLED "[0.3, 0.01, 1, 0.1, 0.03, 3]"

/* The nearest chosen run of a line from `i` on, in steps of `step`; -1: none. */
static int64_t nearest_chosen(
    const struct world *w, double (*line)[2], int64_t count, int64_t i, int64_t step)
{
    while (i >= 0 && i < count && !w->chosen[(int64_t)line[i][1]])
        i += step;
    return i < count ? i : -1;
}

/* A run that is left out has the side of the known runs on both sides of it, if these agree. */
static void check_implied(struct world *w, double (*line)[2], int64_t count)
{
    static const enum side sides[] = {SIDE_NONE, SIDE_ABOVE, SIDE_BELOW, SIDE_DIVERGED}; /* of world_side */

    for (int64_t i = 0; i < count; i++) {
        int64_t cell = (int64_t)line[i][1], before = nearest_chosen(w, line, count, i, -1);
        int64_t after = nearest_chosen(w, line, count, i, 1);
        if (!w->left[cell] || before < 0)
            continue;
        enum side one = sides[world_side(w, (int64_t)line[before][1])];
        enum side two = after < 0 ? one : sides[world_side(w, (int64_t)line[after][1])];
        CHECK(one == two ? w->implied[cell] == one : w->implied[cell] <= SIDE_NONE);
    }
}

static int side_at(struct world *w, double (*line)[2], int64_t i)
{
    return world_side(w, (int64_t)line[i][1]);
}

/* The run after the change of side that a search has to find, by looking at all runs: the first change after
 * runs that diverge at the beginning; or else the end of their divergence; `count`: there is none. */
static int64_t place_of_change(struct world *w, double (*line)[2], int64_t count)
{
    int64_t begin = 0, place;

    while (begin < count && side_at(w, line, begin) == 3)
        begin++;
    for (place = begin + 1; place < count && side_at(w, line, place) == side_at(w, line, begin); place++)
        ;
    return place >= count && begin > 0 ? begin : place;
}

/* The change of side on the line of a cell is trained, the cells that are left say where it is, and few were
 * trained. */
static void check_line(struct world *w, int64_t cell, int64_t most)
{
    double line[LINE_MOST][2];
    int64_t count = world_line(w, cell, line), place = place_of_change(w, line, count), trained = 0;
    char expected[REASON_MOST];
    const char *axis = w->sweep.axis[w->sweep.refine.axis[0]].name;
    const char *variable = metric_table[w->sweep.refine.variable].name;

    if (count == 0)
        return;
    if (place < count && (side_at(w, line, place - 1) == 3 || side_at(w, line, place) == 3))
        snprintf(expected, sizeof(expected), "not needed: divergence %s between %s %.12g and %.12g",
            side_at(w, line, place) == 3 ? "begins" : "ends", axis, line[place - 1][0], line[place][0]);
    else if (place < count)
        snprintf(expected, sizeof(expected), "not needed: %s crosses %g between %s %.12g and %.12g", variable,
            w->sweep.refine.at, axis, line[place - 1][0], line[place][0]);
    else if (side_at(w, line, 0) == 3)
        snprintf(expected, sizeof(expected), "not needed: the first and the last run along %s diverge", axis);
    else
        snprintf(expected, sizeof(expected),
            "not needed: the first and the last run along %s are on one side of %s %g", axis, variable,
            w->sweep.refine.at);
    CHECK(place == count || (w->chosen[(int64_t)line[place - 1][1]] && w->chosen[(int64_t)line[place][1]]));
    for (int64_t i = 0; i < count; i++) {
        trained += w->chosen[(int64_t)line[i][1]];
        if (w->left[(int64_t)line[i][1]])
            CHECK_TEXT(w->reason[(int64_t)line[i][1]], expected);
    }
    check_implied(w, line, count);
    CHECK(trained <= most);
}

/* Plays a sweep of lines from several seeds; the choices are the same. */
static void check_lines(struct world *w, int64_t most)
{
    size_t size = (size_t)w->sweep.cells * sizeof(*w->chosen);
    int *chosen = memory_new(1, size);

    for (uint64_t seed = 0; seed < 5; seed++) {
        world_clear(w);
        world_play(w, seed);
        CHECK(seed == 0 || memcmp(chosen, w->chosen, size) == 0);
        memcpy(chosen, w->chosen, size);
        for (int64_t cell = 0; cell < w->sweep.cells; cell++)
            check_line(w, cell, most);
    }
    free(chosen);
}

static void check_sweep_of_lines(const char *text, int64_t most)
{
    static const double boundaries[] = {1e-6, 0.0004, 0.0011, 0.0052, 0.0243, 0.1, 7};
    struct world w;

    for (int i = 0; i < 7; i++) {
        if (!world_begin(&w, text))
            return;
        w.boundary = boundaries[i];
        check_lines(&w, most);
        world_end(&w);
    }
}

TEST(search_finds_the_boundary_on_lines)
{
    static const struct {
        const char *text;
        int64_t most; /* runs on a line */
    } sweeps[] = {
        {DECAYS20 "refine: {axis: weight_decay}\n", 4},
        {"seed: [1, 2, 3]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\nrefine: {axis: weight_decay}\n", 4},
        {"weight_decay: " SHUFFLED "\nlearning_rate: [0.1, 0.03]\nseed: [2, 1]\n"
         "refine: {axis: weight_decay, at: 1.25}\n",
            4},
        {"learning_rate: [0.1, 0.03]\nweight_decay: [0.5, 0.1, 0.02, 0]\n"
         "refine: {axis: weight_decay, variable: norm_growth, at: 0.9}\n",
            4},
        /* A momentum repeats the decay, which a run without decay does not tell. */
        {"optimiser: sgd\nmomentum: 0.9\nlearning_rate: [0.1, 0.03]\n"
         "weight_decay: {log: [1e-6, 1], points: 60, plus: [0]}\nrefine: {axis: weight_decay}\n",
            4},
        /* Values, not norms, steer along other axes and for other variables. */
        {DECAYS20 "seed: [1, 2]\nrefine: {axis: weight_decay, variable: final_train_loss, at: 1.1}\n", 9},
        {"learning_rate: [0.2, 0.01, 0.1, 0.02, 0.05]\nweight_decay: [0.01, 0.3]\n"
         "refine: {axis: learning_rate}\n",
            5},
        {"weight_decay: [0.01, 0.3]\nbatch: [9, 8, 7, 1, 2, 3]\nrefine: {axis: batch}\n", 5},
        {"weight_decay: [0.1]\nlearning_rate: [0.1, 0.03]\nrefine: {axis: weight_decay}\n", 1},
        {"weight_decay: [0.1]\nrefine: {axis: weight_decay}\n", 1},
        /* Several runs at once; a line that is shorter. */
        {"seed: [1, 2, 3]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
         "refine: {axis: weight_decay, at_once: 2}\n",
            6},
        {"weight_decay: " SHUFFLED "\nlearning_rate: [0.1, 0.03]\nseed: [2, 1]\n"
         "refine: {axis: weight_decay, at: 1.25, at_once: 10}\n",
            6},
        {DECAYS20
            "seed: [1, 2]\nrefine: {axis: weight_decay, variable: final_train_loss, at: 1.1, at_once: 3}\n",
            9},
    };

    for (size_t i = 0; i < sizeof(sweeps) / sizeof(*sweeps); i++)
        check_sweep_of_lines(sweeps[i].text, sweeps[i].most);
}

/* Cells on both sides of skipped ones are neighbours. */
TEST(search_passes_over_skipped_cells)
{
    static const char *const skips[] = {"{weight_decay: 0.1}", "{weight_decay: 0.01}",
        "{weight_decay: [0.3, 1, 3]}", "{weight_decay: [0.01, 0.03, 3], seed: 1}",
        "{weight_decay: [0.01, 0.1, 1]}", "{seed: 2}", "{weight_decay: [0.01, 0.03, 0.1, 0.3, 1], seed: 1}"};

    for (int i = 0; i < 14; i++) {
        char text[1000];
        snprintf(text, sizeof(text),
            "seed: [1, 2]\nweight_decay: " SHUFFLED "\nlearning_rate: [0.1, 0.03]\nskip: [%s]\n"
            "refine: {axis: weight_decay, at_once: %d}\n",
            skips[i / 2], i % 2 + 1);
        check_sweep_of_lines(text, 4 + i % 2);
    }
}

/* Where a run of a line has diverged its norms are those of a few steps: they must not enter a guess. */
IN_WORLD(search_sees_where_runs_diverge, "seed: [1, 2]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
                                         "refine: {axis: weight_decay}\n")
{
    for (int i = 0; i < 20; i++) {
        w->diverges = 1e-4 * pow(1.6, i);
        check_lines(w, 9);
    }
}

/* At every length of the stretch that diverges, with the boundary before its end and behind. */
IN_WORLD(search_goes_on_behind_runs_that_diverge,
    DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\nrefine: {axis: weight_decay}\n")
{
    static const double boundaries[] = {0.0011, 0.0243, 7};

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 24; j++) {
            w->boundary = boundaries[i];
            w->calms = 2.5e-4 * pow(1.259, j);
            check_lines(w, 11);
        }
}

IN_WORLD(search_without_norms_bisects, "seed: [1, 2]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
                                       "refine: {axis: weight_decay}\n")
{
    w->timeless = true;
    check_lines(w, 8);
    CHECK(w->curves > 0);
}

/* A failed run ends its line, and nothing else. */
IN_WORLD(search_ends_a_line_at_a_run_that_failed, "seed: [1, 2]\n" DECAYS20 "refine: {axis: weight_decay}\n")
{
    int lines = 0;

    for (w->fails = 0; w->fails < w->sweep.cells; w->fails++) {
        char expected[REASON_MOST];
        struct run run;
        world_clear(w);
        world_play(w, (uint64_t)w->fails);
        sweep_cell(&w->sweep, w->fails, &run);
        snprintf(expected, sizeof(expected), "not reached: the run at weight_decay %.12g has no norm_growth",
            run.weight_decay);
        for (int64_t cell = 0; cell < w->sweep.cells; cell++)
            if (w->left[cell] && w->chosen[w->fails] && cell / 20 == w->fails / 20)
                CHECK_TEXT(w->reason[cell], expected);
            else if (cell % 20 == 0 && cell / 20 != w->fails / 20)
                check_line(w, cell, 4);
        lines += w->chosen[w->fails];
    }
    CHECK(lines >= 4 && lines <= 8);
}

/* ---- searches in planes ---- */

/* All neighbours on different sides along the refined axes are trained. */
static void check_neighbours(struct world *w)
{
    double line[LINE_MOST][2];
    int64_t pairs = 0, axis = w->sweep.refine.axis[0];

    for (int i = 0; i < w->sweep.refine.axis_count; i++) {
        w->sweep.refine.axis[0] = w->sweep.refine.axis[i];
        for (int64_t cell = 0; cell < w->sweep.cells; cell++) {
            int64_t count = world_line(w, cell, line);
            for (int64_t at = 0; at + 1 < count; at++) {
                int64_t one = (int64_t)line[at][1], two = (int64_t)line[at + 1][1];
                if (world_side(w, one) == world_side(w, two))
                    continue;
                CHECK(w->chosen[one] && w->chosen[two]);
                pairs++;
            }
        }
        w->sweep.refine.axis[0] = axis;
    }
    CHECK(pairs > 0);
}

static int64_t check_sweep_of_cells(const char *text)
{
    struct world w;
    int *chosen = NULL;
    size_t size = 0;

    for (uint64_t seed = 0; seed < 5; seed++) {
        if (!world_begin(&w, text)) {
            free(chosen);
            return 0;
        }
        world_play(&w, seed);
        check_neighbours(&w);
        size = (size_t)w.sweep.cells * sizeof(*chosen);
        if (!chosen)
            chosen = memcpy(memory_new(1, size), w.chosen, size);
        CHECK(memcmp(chosen, w.chosen, size) == 0);
        for (int64_t cell = 0; cell < w.sweep.cells; cell++)
            if (w.left[cell])
                CHECK_TEXT(w.reason[cell],
                    "not needed: no two runs around it are on different sides of norm_growth 1");
        if (seed < 4)
            world_end(&w);
    }
    int64_t trained = w.trained;
    world_end(&w);
    free(chosen);
    return trained;
}

TEST(search_follows_the_boundary_in_planes)
{
#define RATES "learning_rate: {log: [0.01, 1], points: 17}\n"
#define DECAYS "weight_decay: {log: [0.01, 1], points: 33}\n"
    int64_t once = check_sweep_of_cells(RATES DECAYS "refine: {axes: [weight_decay, learning_rate]}\n");
    CHECK(once < 17 * 33 / 2);
    CHECK(check_sweep_of_cells(RATES DECAYS "refine: {axes: [learning_rate, weight_decay]}\n") == once);
    CHECK(check_sweep_of_cells(DECAYS RATES "refine: {axes: [learning_rate, weight_decay]}\n") == once);
    CHECK(check_sweep_of_cells(
              DECAYS "seed: [3, 1]\n" RATES
                     "refine: {axes: [learning_rate, weight_decay], coarse: 4}\n") < 2 * 17 * 33 / 2);
    CHECK(check_sweep_of_cells(
              "seed: [3, 1]\n" DECAYS "learning_rate: 0.1\nrefine: {axes: [weight_decay]}\n") <= 2 * 12);
    CHECK(check_sweep_of_cells(
              "learning_rate: [0.1]\n" DECAYS "refine: {axes: [weight_decay, learning_rate]}\n") <= 12);
}

/* A plane without cells, others with a hole. */
IN_WORLD(search_of_planes_with_skipped_cells_ends,
    "seed: [1, 2, 3]\n" DECAYS RATES "skip: [{seed: 2}, {seed: 3, learning_rate: 1}]\n"
    "refine: {axes: [learning_rate, weight_decay]}\n")
{
    world_play(w, 0);
    CHECK(w->trained > 30 && w->trained < w->sweep.cells / 2);
}
