/* Seeds until it is decided: sweeps whose results are made up, beside a plain statement of the rule. */
#include "driver/search/inside.h"
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/random.h"
#include "tests/test.h"

enum { REASON_MOST = 256, SEEDS_MOST = 16 };

struct noisy {
    struct sweep sweep;
    double noise, shift, diverges; /* the part of the cells that diverge */
    double fails;
    signed char *seen; /* [cells] 0: not yet, 1: chosen, 2: ended, 3: left */
    char (*reason)[REASON_MOST]; /* [cells] */
    enum side *implied; /* [cells] */
    int64_t *waiting, waits, rounds; /* rounds: in which all runs that wait end */
};

/* A number of a cell. */
static double number_of(int64_t cell, uint64_t which)
{
    return random_uniform(which, RANDOM_TEST, (uint64_t)cell);
}

static double normal_of(int64_t cell)
{
    return sqrt(-2 * log(1 - number_of(cell, 1))) * cos(2 * 3.14159265358979 * number_of(cell, 2));
}

static enum outcome outcome_of(const struct noisy *n, int64_t cell)
{
    double number = number_of(cell, 3);
    return number < n->diverges              ? OUTCOME_DIVERGED
           : number < n->diverges + n->fails ? OUTCOME_FAILED
                                             : OUTCOME_DONE;
}

/* norm_growth falls through 1 at a weight_decay that rises with the seed; final_train_loss has noise alone.
 */
static double value_of(const struct noisy *n, int64_t cell, enum metric metric)
{
    struct run run;

    sweep_cell(&n->sweep, cell, &run);
    double mean = metric == METRIC_norm_growth
                      ? 1 - 0.2 * log(run.weight_decay / (0.1 + n->shift * (double)run.seed))
                      : run.learning_rate;
    return mean + n->noise * run.learning_rate * normal_of(cell);
}

static double on_value(void *context, int64_t cell, enum metric metric)
{
    const struct noisy *n = context;

    CHECK(n->seen[cell] == 2 && outcome_of(n, cell) == OUTCOME_DONE);
    return value_of(n, cell, metric);
}

static bool on_curve(void *context, int64_t cell, struct norm_curve *curve)
{
    (void)context, (void)cell, (void)curve;
    return false;
}

static void take_choices(struct noisy *n, struct search *search)
{
    struct choice choice;

    while (search_next(search, &choice)) {
        CHECK(n->seen[choice.cell] == 0 && !sweep_skips(&n->sweep, choice.cell));
        n->seen[choice.cell] = choice.kind == CHOICE_TRAIN ? 1 : 3;
        if (choice.kind == CHOICE_TRAIN)
            n->waiting[n->waits++] = choice.cell;
        else
            search_reason(search, choice.cell, n->reason[choice.cell], REASON_MOST);
        n->implied[choice.cell] = choice.implied;
    }
}

/* Plays the sweep; order 0: results come in rounds, else in an order drawn from this number. */
static void play(struct noisy *n, uint64_t order)
{
    const struct search_reader reader = {n, on_value, on_curve};
    struct search *search = search_new(&n->sweep, &reader, 1);
    size_t cells = (size_t)n->sweep.cells;

    memset(n->seen, 0, cells);
    n->waits = n->rounds = 0;
    take_choices(n, search);
    for (uint64_t draw = 0; n->waits > 0; n->rounds++) {
        CHECK(search_left(search) >= -1e-9 && search_left(search) <= 2 * (double)n->sweep.cells);
        for (int64_t left = order ? 1 : n->waits; left > 0; left--) {
            int64_t at = order ? (int64_t)((double)n->waits * random_uniform(order, RANDOM_TEST, draw++)) : 0;
            int64_t cell = n->waiting[at];
            n->waiting[at] = n->waiting[--n->waits];
            n->seen[cell] = 2;
            search_take(search, cell, outcome_of(n, cell));
            search_take(search, cell, OUTCOME_FAILED); /* said twice */
        }
        take_choices(n, search);
    }
    CHECK_CLOSE(search_left(search), 0, 0);
    for (int64_t cell = 0; cell < n->sweep.cells; cell++)
        CHECK(n->seen[cell] == (sweep_skips(&n->sweep, cell) ? 0 : n->seen[cell] == 2 ? 2 : 3));
    search_free(search);
}

static bool noisy_begin(struct noisy *n, const char *text)
{
    char whole[1024];
    struct error error;

    snprintf(whole, sizeof(whole), "corpus: markov\nsteps: 10\n%s", text);
    *n = (struct noisy){.noise = 1};
    if (sweep_parse(&n->sweep, "sweep.yaml", "", whole, strlen(whole), NULL, 0, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return false;
    }
    size_t cells = (size_t)n->sweep.cells;
    n->seen = memory_zero(cells, sizeof(*n->seen));
    n->reason = memory_zero(cells, sizeof(*n->reason));
    n->implied = memory_zero(cells, sizeof(*n->implied));
    n->waiting = memory_zero(cells, sizeof(*n->waiting));
    return true;
}

static void noisy_end(struct noisy *n)
{
    free(n->seen);
    free(n->reason);
    free(n->implied);
    free(n->waiting);
    sweep_release(&n->sweep);
}

/* ---- intervals ---- */

TEST(seeds_have_the_quantiles_of_student)
{
    static const struct {
        int64_t freedom;
        double t; /* of R's qt(0.975, freedom) */
    } known[] = {{1, 12.706204736432095}, {2, 4.302652729696142}, {3, 3.182446305284263},
        {4, 2.776445105197793}, {5, 2.570581835636315}, {9, 2.262157162798205}, {10, 2.228138851986273},
        {29, 2.045229642132703}, {100, 1.983971518523552}, {1000, 1.962339080826409}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        CHECK_CLOSE(seeds_student(known[i].freedom) / known[i].t, 1, 1e-9);
}

TEST(seeds_interval_is_that_of_the_mean)
{
    static const double values[] = {1, 2, 3, 6}, same[] = {0.1, 0.1, 0.1};

    CHECK(isinf(seeds_width(values, 0)) && isinf(seeds_width(values, 1)));
    CHECK_CLOSE(seeds_width(values, 2), 12.706204736432095, 1e-8); /* s is 1 / sqrt(2) */
    CHECK_CLOSE(seeds_width(values, 3), 2 * 4.302652729696142 / sqrt(3), 1e-8);
    CHECK_CLOSE(seeds_width(values, 4), 2 * 3.182446305284263 * sqrt(14. / 3 / 4), 1e-8);
    CHECK_CLOSE(seeds_width(same, 3), 0, 1e-15);
}

/* ---- the rule ---- */

/* The seeds of the cells that differ from this one, of seed 1, in their seed alone; which is the innermost
 * axis, ascending. `first`: the cell beside it from which differences are taken, -1: none. `most`: how many
 * of them are looked at. */
static int64_t rule_says(const struct noisy *n, int64_t cell, int64_t first)
{
    const struct refine *refine = &n->sweep.refine;
    const struct refine_seeds *rule = &refine->seeds;

    for (int64_t used = rule->least;; used += refine->at_once) {
        double values[SEEDS_MOST];
        int64_t count = 0, lacking = 0;
        used = used < rule->most ? used : rule->most;
        for (int64_t i = 0; i < used; i++) {
            bool done = outcome_of(n, cell + i) == OUTCOME_DONE && !sweep_skips(&n->sweep, cell + i);
            lacking += outcome_of(n, cell + i) != OUTCOME_DONE && !sweep_skips(&n->sweep, cell + i);
            if (first >= 0 && outcome_of(n, first + i) != OUTCOME_DONE) {
                lacking++;
                done = false;
            }
            if (done)
                values[count++] = value_of(n, cell + i, rule->variable) -
                                  (first >= 0 ? value_of(n, first + i, rule->variable) : 0);
        }
        if (seeds_width(values, count) <= rule->width || used == rule->most || (count == 0 && lacking > 0))
            return used;
    }
}

static int64_t seeds_of(const struct noisy *n, int64_t cell)
{
    int64_t count = 0, length = n->sweep.axis[n->sweep.axis_count - 1].length;

    for (int64_t i = 0; i < length; i++)
        if (n->seen[cell + i] == 2)
            count = i + 1;
    return count;
}

/* The side that all runs of a cell have that did not fail; SIDE_NONE: none, or several. */
static enum side common_side(const struct noisy *n, int64_t cell, int64_t used)
{
    const struct refine *refine = &n->sweep.refine;
    bool found[SIDE_DIVERGED + 1] = {false};

    for (int64_t i = cell; i < cell + used; i++)
        if (!sweep_skips(&n->sweep, i) && outcome_of(n, i) != OUTCOME_FAILED)
            found[outcome_of(n, i) == OUTCOME_DIVERGED            ? SIDE_DIVERGED
                  : value_of(n, i, refine->variable) > refine->at ? SIDE_ABOVE
                                                                  : SIDE_BELOW] = true;
    if (found[SIDE_ABOVE] + found[SIDE_BELOW] + found[SIDE_DIVERGED] != 1)
        return SIDE_NONE;
    return found[SIDE_ABOVE] ? SIDE_ABOVE : found[SIDE_BELOW] ? SIDE_BELOW : SIDE_DIVERGED;
}

#define GRID "learning_rate: [0.01, 0.1, 0.3]\nweight_decay: [0.01, 0.1, 0.2, 1]\nseed: {range: [1, 12]}\n"

TEST(seeds_are_trained_where_the_interval_is_wide)
{
    static const struct {
        const char *refine;
        double diverges, fails;
        int64_t rounds; /* at most */
    } cases[] = {
        {"refine: {seeds: {width: 0.3}}\n", 0, 0, 10},
        {"refine: {seeds: {width: 0.3, least: 2, most: 9}}\n", 0, 0, 8},
        {"refine: {seeds: {width: 0.3, most: 7, variable: final_train_loss}, at_once: 2}\n", 0, 0, 3},
        {"refine: {seeds: {width: 0.3}}\n", 0.3, 0, 10},
        {"refine: {seeds: {width: 0.3}}\n", 0.5, 0.2, 10},
        {"refine: {seeds: {width: 0.3}}\n", 1, 0, 1},
        {"refine: {seeds: {width: 1e9}}\n", 0, 0, 1},
        {"skip: [{learning_rate: 0.1, seed: [1, 2, 3, 4, 5]}, {weight_decay: 1}]\nrefine: {seeds: {width: "
         "0.3}}\n",
            0, 0, 10},
        {"skip: [{learning_rate: 0.3, seed: [2, 12]}]\nrefine: {seeds: {width: 0.3}}\n", 0.2, 0, 10},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        struct noisy n;
        int64_t kinds[SEEDS_MOST] = {0}, different = 0;
        snprintf(text, sizeof(text), GRID "%s", cases[i].refine);
        if (!noisy_begin(&n, text))
            return;
        n.diverges = cases[i].diverges;
        n.fails = cases[i].fails;
        for (uint64_t order = 0; order < 6; order++) {
            play(&n, order);
            CHECK(order > 0 || n.rounds <= cases[i].rounds);
            for (int64_t cell = 0; cell < n.sweep.cells; cell += 12) {
                int64_t used = rule_says(&n, cell, -1);
                kinds[used]++;
                enum side side = common_side(&n, cell, used);
                for (int64_t seed = 0; seed < 12; seed++)
                    CHECK(n.seen[cell + seed] != 3 || n.implied[cell + seed] == side);
                for (int64_t seed = 0; seed < 12; seed++)
                    CHECK(sweep_skips(&n.sweep, cell + seed) || n.seen[cell + seed] == (seed < used ? 2 : 3));
            }
        }
        for (int j = 0; j < SEEDS_MOST; j++)
            different += kinds[j] > 0;
        CHECK(cases[i].rounds == 1 ? different == 1 : different >= 3);
        noisy_end(&n);
    }
}

/* Of a smallest seed that is not the first of its axis, which is not the innermost one; and what is left says
 * why.
 */
TEST(seeds_come_in_ascending_order_and_say_why_others_are_left)
{
    struct noisy n;

    if (!noisy_begin(&n,
            "seed: [9, 7, 5, 3, 1]\nlearning_rate: [0.01, 0.3]\nrefine: {seeds: {width: 0.2, most: 4}}\n"))
        return;
    play(&n, 1);
    for (int64_t seed = 0; seed < 5; seed++) {
        CHECK(n.seen[2 * seed] == (seed < 2 ? 3 : 2));
        CHECK(n.seen[2 * seed + 1] == (seed < 1 ? 3 : 2));
    }
    double calm[3], wild[4];
    char expected[REASON_MOST];
    for (int i = 0; i < 3; i++)
        calm[i] = value_of(&n, 2 * (4 - i), METRIC_norm_growth);
    for (int i = 0; i < 4; i++)
        wild[i] = value_of(&n, 2 * (4 - i) + 1, METRIC_norm_growth);
    snprintf(expected, sizeof(expected),
        "not needed: the 95 %% interval of norm_growth over 3 seeds is %.3g wide", seeds_width(calm, 3));
    CHECK_TEXT(n.reason[0], expected);
    CHECK_TEXT(n.reason[2], expected);
    snprintf(expected, sizeof(expected),
        "not needed: the 95 %% interval of norm_growth over 4 seeds is %.3g wide, and refine trains no more "
        "than 4",
        seeds_width(wild, 4));
    CHECK_TEXT(n.reason[1], expected);
    n.diverges = 1;
    play(&n, 2);
    CHECK_TEXT(n.reason[0], "not reached: 0 of the first 3 seeds tell norm_growth");
    CHECK(n.implied[0] == SIDE_DIVERGED);
    noisy_end(&n);
}

TEST(seeds_without_what_is_searched_for_have_no_side)
{
    struct noisy n;
    int64_t left = 0;

    if (!noisy_begin(&n, "weight_decay: [0.01, 0.1, 1]\nseed: {range: [1, 4]}\n"
                         "refine: {axis: weight_decay, seeds: {width: 1, variable: final_train_loss}}\n"))
        return;
    n.shift = NAN; /* and norm_growth with it */
    play(&n, 1);
    for (int64_t cell = 0; cell < n.sweep.cells; cell++) {
        CHECK(n.seen[cell] == 2 || n.implied[cell] <= SIDE_NONE);
        left += n.seen[cell] == 3;
    }
    CHECK(left > 0);
    noisy_end(&n);
}

TEST(seeds_of_differences_are_pairs)
{
    for (int part = 0; part < 4; part++) {
        struct noisy n;
        bool several = false;
        if (!noisy_begin(&n, GRID "refine: {seeds: {width: 0.5, most: 10, difference: weight_decay}}\n"))
            return;
        n.diverges = 0.2 * part;
        for (uint64_t order = 0; order < 4; order++) {
            play(&n, order);
            for (int64_t rate = 0; rate < 3; rate++) {
                int64_t first = rate * 48, largest = 0;
                for (int64_t decay = 1; decay < 4; decay++) {
                    int64_t used = rule_says(&n, first + 12 * decay, first);
                    CHECK(seeds_of(&n, first + 12 * decay) == used);
                    several = several || (largest > 0 && used != largest);
                    largest = used > largest ? used : largest;
                }
                CHECK(seeds_of(&n, first) == largest);
            }
        }
        CHECK(several);
        noisy_end(&n);
    }
}

/* ---- beside a search ---- */

/* A cell gets seeds if one of the first ones has been searched there. The searches are those of a sweep of
 * the first seeds alone. Returns how many cells are left whose seeds do not agree on a side. */
static int64_t check_beside(const char *refine, const char *difference, uint64_t order)
{
    static const char axes[] =
        "learning_rate: [0.1, 0.3]\nwidth: [32, 64]\nweight_decay: {log: [0.01, 1], points: 41}\n";
    struct noisy n, alone;
    char text[512];
    int64_t searched = 0, more = 0, apart = 0;

    snprintf(text, sizeof(text), "%sseed: {range: [1, 3]}\nrefine: {%s}\n", axes, refine);
    if (!noisy_begin(&alone, text))
        return 0;
    snprintf(text, sizeof(text), "%sseed: {range: [1, 9]}\nrefine: {%s, seeds: {width: 0.2%s}}\n", axes,
        refine, difference);
    if (!noisy_begin(&n, text)) {
        noisy_end(&alone);
        return 0;
    }
    /* A number of the cell is its own in each sweep: none here, so that both have the same results. */
    n.noise = alone.noise = 0;
    n.shift = alone.shift = 0.1;
    n.sweep.refine.seeds.width = order % 2 ? 1 : -1;
    play(&alone, order);
    play(&n, order);
    bool both = difference[0];
    for (int64_t cell = 0; cell < n.sweep.cells / 9; cell++) {
        bool chosen = false;
        for (int64_t seed = 0; seed < 3; seed++) {
            int64_t other = cell / 41 % 2 ? cell - 41 : cell + 41; /* of the other width */
            chosen =
                chosen || alone.seen[3 * cell + seed] == 2 || (both && alone.seen[3 * other + seed] == 2);
        }
        searched += chosen;
        for (int64_t seed = 0; seed < 9; seed++) {
            bool trained = chosen && (seed < 3 || order % 2 == 0);
            CHECK(n.seen[9 * cell + seed] == (trained ? 2 : 3));
            more += trained;
            if (!chosen && seed < 3)
                CHECK_TEXT(n.reason[9 * cell + seed], alone.reason[3 * cell + seed]);
            else if (!chosen)
                CHECK_TEXT(n.reason[9 * cell + seed], "not needed: no search of the first 3 seeds came here");
            bool agree = alone.implied[3 * cell] == alone.implied[3 * cell + 1] &&
                         alone.implied[3 * cell] == alone.implied[3 * cell + 2];
            apart += !chosen && !agree;
            enum side expected = seed < 3 ? alone.implied[3 * cell + seed]
                                 : agree  ? alone.implied[3 * cell]
                                          : SIDE_NONE;
            if (!chosen)
                CHECK(n.implied[9 * cell + seed] == expected ||
                      (n.implied[9 * cell + seed] <= SIDE_NONE && expected <= SIDE_NONE));
        }
    }
    CHECK(searched > 0 && searched < 160 && more == searched * (order % 2 ? 3 : 9));
    noisy_end(&alone);
    noisy_end(&n);
    return apart;
}

TEST(seeds_are_those_of_searched_cells)
{
    int64_t apart = 0;

    for (uint64_t order = 0; order < 6; order++) {
        apart += check_beside("axis: weight_decay", "", order);
        check_beside("axis: weight_decay, at_once: 3", "", order);
        check_beside("axis: weight_decay", ", difference: width", order);
        check_beside("axes: [weight_decay, learning_rate], coarse: 4", "", order);
    }
    CHECK(apart > 0);
}
