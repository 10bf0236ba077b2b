/* Time left, against what one works out by hand. */
#include "driver/picture/remaining.h"
#include "tests/test.h"

#include <stddef.h>

TEST(remaining_by_the_mean_of_ended_runs)
{
    /* ten runs in 120 s, two of them cut short: 12 s a run, and 120 / 900 s a step */
    const struct kind kind = {
        .step_cost = 7, .last_step = 100, .pending = 5, .ended = 10, .steps = 900, .seconds = 120};
    const struct under_way run[] = {{.step = 25, .silent = 0}, {.step = 85, .silent = 0.5}};
    struct remaining remaining = {1, &kind, 2, run, NAN};

    CHECK_CLOSE(remaining_seconds(&remaining), (5 * 12 + 10 + 1.5) / 2, 1e-9);
}

/* Kinds that none has ended of are reckoned by their cost, others by their own runs. */
TEST(remaining_weighs_kinds)
{
    const struct kind kind[] = {
        {.step_cost = 2, .last_step = 100, .pending = 10, .ended = 1, .steps = 100, .seconds = 10},
        {.step_cost = 8, .last_step = 200, .pending = 3, .ended = 0},
    };
    const struct under_way run[] = {{.kind = 1, .step = 50}, {.kind = 0, .step = 0}};
    struct remaining remaining = {2, kind, 2, run, NAN};

    /* 0.05 s for what costs 1: a long run takes 80 s */
    CHECK_CLOSE(remaining_seconds(&remaining), (10 * 10 + 3 * 80 + 0.75 * 80 + 10) / 2, 1e-9);
}

TEST(remaining_is_no_less_than_the_longest_run)
{
    struct kind kind[] = {
        {.step_cost = 1, .last_step = 10, .ended = 4, .steps = 40, .seconds = 4},
        {.step_cost = 1, .last_step = 1000},
    };
    const struct under_way run[] = {{.kind = 1, .step = 100}, {.kind = 0, .step = 5}, {.kind = 0, .step = 9}};
    struct remaining remaining = {2, kind, 3, run, NAN};

    CHECK_CLOSE(remaining_seconds(&remaining), 90, 1e-9);
    kind[1].pending = 1;
    CHECK_CLOSE(remaining_seconds(&remaining), 100, 1e-9);
}

TEST(remaining_early_goes_by_steps)
{
    const struct kind kind = {.step_cost = 3, .last_step = 100, .pending = 6};
    const struct under_way run[] = {{.step = 20, .anew = true}, {.step = 30, .anew = true}, {.step = 90}};
    struct remaining remaining = {1, &kind, 3, run, 50};

    /* 50 steps by two workers in 50 s: 2 s a step; the third run came with most of its steps */
    CHECK_CLOSE(remaining_seconds(&remaining), (6 * 200 + 160 + 140 + 20) / 3.0, 1e-9);
    remaining.age = NAN;
    CHECK(isnan(remaining_seconds(&remaining)));
}

TEST(remaining_is_unknown_without_anything_to_go_by)
{
    const struct kind kind = {.step_cost = 3, .last_step = 100, .pending = 6};
    const struct kind gone = {
        .step_cost = 3, .last_step = 100, .pending = 6, .ended = 1, .steps = 100, .seconds = 3};
    const struct under_way run = {.step = 0, .anew = true};
    struct remaining begun = {1, &kind, 1, &run, 50}, nobody = {1, &gone, 0, NULL, 50};

    CHECK(isnan(remaining_seconds(&begun)));
    CHECK(isnan(remaining_seconds(&nobody)));
}

TEST(remaining_of_a_run_that_is_overdue_is_nothing)
{
    const struct kind kind = {.step_cost = 3, .last_step = 100, .ended = 1, .steps = 100, .seconds = 10};
    const struct under_way run = {.step = 50, .silent = 60};
    struct remaining remaining = {1, &kind, 1, &run, NAN};

    CHECK_CLOSE(remaining_seconds(&remaining), 0, 0);
}
