/* Searches along lines of whole sweeps. */
#include "driver/sweep/grid.h"
#include "tests/driver/search/world.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int *chosen = malloc(size);

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
    check_sweep_of_lines(BASE DECAYS20 "refine: {axis: weight_decay}\n", 4);
    check_sweep_of_lines(BASE "seed: [1, 2, 3]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
                              "refine: {axis: weight_decay}\n",
        4);
    check_sweep_of_lines(BASE "weight_decay: " SHUFFLED "\nlearning_rate: [0.1, 0.03]\nseed: [2, 1]\n"
                              "refine: {axis: weight_decay, at: 1.25}\n",
        4);
    check_sweep_of_lines(BASE "learning_rate: [0.1, 0.03]\nweight_decay: [0.5, 0.1, 0.02, 0]\n"
                              "refine: {axis: weight_decay, variable: norm_growth, at: 0.9}\n",
        4);
}

/* A momentum repeats the decay, which a run without decay does not tell. */
TEST(search_knows_what_the_decay_of_a_momentum_is)
{
    check_sweep_of_lines(BASE
        "optimiser: sgd\nmomentum: 0.9\nlearning_rate: [0.1, 0.03]\nweight_decay: {log: [1e-6, "
        "1], points: 60, plus: [0]}\nrefine: {axis: weight_decay}\n",
        4);
}

/* Values, not norms, steer along other axes and for other variables. */
TEST(search_finds_crossings_of_other_variables_along_other_axes)
{
    check_sweep_of_lines(BASE DECAYS20 "seed: [1, 2]\n"
                                       "refine: {axis: weight_decay, variable: final_train_loss, at: 1.1}\n",
        9);
    check_sweep_of_lines(BASE "learning_rate: [0.2, 0.01, 0.1, 0.02, 0.05]\nweight_decay: [0.01, 0.3]\n"
                              "refine: {axis: learning_rate}\n",
        5);
    check_sweep_of_lines(
        BASE "weight_decay: [0.01, 0.3]\nseed: [9, 8, 7, 1, 2, 3]\nrefine: {axis: seed}\n", 5);
}

TEST(search_of_an_axis_of_one_value_trains_it)
{
    check_sweep_of_lines(
        BASE "weight_decay: [0.1]\nlearning_rate: [0.1, 0.03]\nrefine: {axis: weight_decay}\n", 1);
    check_sweep_of_lines(BASE "weight_decay: [0.1]\nrefine: {axis: weight_decay}\n", 1);
}

/* Cells on both sides of skipped ones are neighbours. */
TEST(search_passes_over_skipped_cells)
{
    static const char *const skips[] = {"{weight_decay: 0.1}", "{weight_decay: 0.01}",
        "{weight_decay: [0.3, 1, 3]}", "{weight_decay: [0.01, 0.03, 3], seed: 1}",
        "{weight_decay: [0.01, 0.1, 1]}", "{seed: 2}", "{weight_decay: [0.01, 0.03, 0.1, 0.3, 1], seed: 1}"};

    for (int i = 0; i < 7; i++) {
        char text[1000];
        snprintf(text, sizeof(text),
            BASE "seed: [1, 2]\nweight_decay: " SHUFFLED "\nlearning_rate: [0.1, 0.03]\nskip: [%s]\n"
                 "refine: {axis: weight_decay}\n",
            skips[i]);
        check_sweep_of_lines(text, 4);
    }
}

/* Where a run of a line has diverged its norms are those of a few steps: they must not enter a guess. */
TEST(search_sees_where_runs_diverge)
{
    struct world w;

    if (!world_begin(&w, BASE "seed: [1, 2]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
                              "refine: {axis: weight_decay}\n"))
        return;
    for (int i = 0; i < 20; i++) {
        w.diverges = 1e-4 * pow(1.6, i);
        check_lines(&w, 9);
    }
    world_end(&w);
}

/* At every length of the stretch that diverges, with the boundary before its end and behind. */
TEST(search_goes_on_behind_runs_that_diverge)
{
    static const double boundaries[] = {0.0011, 0.0243, 7};
    struct world w;

    if (!world_begin(&w, BASE DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\nrefine: {axis: weight_decay}\n"))
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 24; j++) {
            w.boundary = boundaries[i];
            w.calms = 2.5e-4 * pow(1.259, j);
            check_lines(&w, 11);
        }
    world_end(&w);
}

TEST(search_without_norms_bisects)
{
    struct world w;

    if (!world_begin(&w, BASE "seed: [1, 2]\n" DECAYS20 "learning_rate: [0.1, 0.03, 0.2]\n"
                              "refine: {axis: weight_decay}\n"))
        return;
    w.timeless = true;
    check_lines(&w, 8);
    CHECK(w.courses > 0);
    world_end(&w);
}

/* A failed run ends its line, and nothing else. */
TEST(search_ends_a_line_at_a_run_that_failed)
{
    struct world w;
    int lines = 0;

    if (!world_begin(&w, BASE "seed: [1, 2]\n" DECAYS20 "refine: {axis: weight_decay}\n"))
        return;
    for (w.fails = 0; w.fails < w.sweep.cells; w.fails++) {
        char expected[REASON_MOST];
        struct run run;
        world_clear(&w);
        world_play(&w, (uint64_t)w.fails);
        sweep_cell(&w.sweep, w.fails, &run);
        snprintf(expected, sizeof(expected), "not reached: the run at weight_decay %.12g has no norm_growth",
            run.weight_decay);
        for (int64_t cell = 0; cell < w.sweep.cells; cell++)
            if (w.left[cell] && w.chosen[w.fails] && cell / 20 == w.fails / 20)
                CHECK_TEXT(w.reason[cell], expected);
            else if (cell % 20 == 0 && cell / 20 != w.fails / 20)
                check_line(&w, cell, 4);
        lines += w.chosen[w.fails];
    }
    CHECK(lines >= 4 && lines <= 8);
    world_end(&w);
}
