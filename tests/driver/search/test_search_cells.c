/* Searches in planes of whole sweeps; and without memory. */
#include "driver/sweep/grid.h"
#include "tests/driver/search/world.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
            chosen = memcpy(malloc(size), w.chosen, size);
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
    int64_t once = check_sweep_of_cells(BASE RATES DECAYS "refine: {axes: [weight_decay, learning_rate]}\n");
    CHECK(once < 17 * 33 / 2);
    CHECK(check_sweep_of_cells(BASE RATES DECAYS "refine: {axes: [learning_rate, weight_decay]}\n") == once);
    CHECK(check_sweep_of_cells(BASE DECAYS RATES "refine: {axes: [learning_rate, weight_decay]}\n") == once);
    CHECK(check_sweep_of_cells(
              BASE DECAYS "seed: [3, 1]\n" RATES
                          "refine: {axes: [learning_rate, weight_decay], coarse: 4}\n") < 2 * 17 * 33 / 2);
    CHECK(check_sweep_of_cells(
              BASE "seed: [3, 1]\n" DECAYS "learning_rate: 0.1\nrefine: {axes: [weight_decay]}\n") <= 2 * 12);
    CHECK(check_sweep_of_cells(
              BASE "learning_rate: [0.1]\n" DECAYS "refine: {axes: [weight_decay, learning_rate]}\n") <= 12);
}

/* A plane without cells, others with a hole. */
TEST(search_of_planes_with_skipped_cells_ends)
{
    struct world w;

    if (!world_begin(&w,
            BASE "seed: [1, 2, 3]\n" DECAYS RATES "skip: [{seed: 2}, {seed: 3, learning_rate: 1}]\n"
                 "refine: {axes: [learning_rate, weight_decay]}\n"))
        return;
    world_play(&w, 0);
    CHECK(w.trained > 30 && w.trained < w.sweep.cells / 2);
    world_end(&w);
}

/* ---- memory ---- */

TEST(search_without_memory_is_not_there)
{
    static const char *const calls[] = {"malloc", "calloc"};
    struct world w;
    int failures = 0;

    if (!world_begin(&w, BASE DECAYS RATES "refine: {axes: [learning_rate, weight_decay]}\n"))
        return;
    for (int i = 0; i < 2; i++)
        for (int after = 0;; after++) {
            failing_after(after, calls[i], ENOMEM);
            struct search *search = world_search(&w);
            bool failed = failing_end();
            CHECK(failed == !search);
            search_free(search);
            if (!failed)
                break;
            failures++;
        }
    CHECK(failures >= 12);
    world_end(&w);
}
