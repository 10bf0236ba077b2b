/* What a damaged worker may say of its run; the run takes 10 steps and is measured every 5. */
#include "driver/ranks/inside.h"
#include "tests/driver/dataset/bench.h"

#include "worker/run/run.h"

#include <limits.h>

#define IN_JOB(id)                                                                                           \
    static void in_job_##id(struct job *job);                                                                \
    IN_BENCH(id, BASE "seed: [1, 2, 3]\n")                                                                   \
    {                                                                                                        \
        struct job job = {.sweep = &bench->sweep, .corpus = &bench->corpus, .dataset = bench->dataset};      \
        in_job_##id(&job);                                                                                   \
    }                                                                                                        \
    static void in_job_##id(struct job *job)

IN_JOB(plausible_is_a_row_that_the_run_has)
{
    const struct metric_form form = metric_form(&job->sweep->base, &job->sweep->measure);
    int64_t size = (int64_t)metric_row_size(&form, 5), of_run = (int64_t)metric_row_size(&form, STEP_OF_RUN);
    const struct row_piece good[] = {{.step = 0, .count = size}, {.step = 10, .offset = 1, .count = size - 1},
        {.step = STEP_OF_RUN, .count = of_run}};
    const struct row_piece bad[] = {{.step = 4, .count = 1}, {.step = 11, .count = 1},
        {.step = -2, .count = 1}, {.step = 5, .count = size + 1}, {.step = 5, .offset = 1, .count = size},
        {.step = 5, .count = 0}, {.step = 5, .offset = -1, .count = 2},
        {.step = 5, .offset = INT64_MAX, .count = 2}, {.step = 5, .offset = size + 1, .count = 1},
        {.step = STEP_OF_RUN, .offset = of_run, .count = 1}};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        CHECK(plausible_row(job, 2, &good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(!plausible_row(job, 2, &bad[i]) && plausible_row(job, -1, &bad[i]));
}

/* A place among the ranks of a machine is a small number, -1 if it is unknown. */
TEST(plausible_is_a_hello_with_a_possible_seat)
{
    static const struct seat good[] = {{-1, -1}, {0, 1}, {7, 2}, {INT_MAX, INT_MAX}};
    static const struct seat bad[] = {
        {-2, 1}, {0, -2}, {0, INT64_MIN}, {INT64_MIN, 1}, {INT64_MAX, 1}, {0, 1LL << 31}};
    struct hello hello = {.process = process_self()};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        hello.seat = good[i];
        CHECK(plausible_hello(&hello));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        hello.seat = bad[i];
        CHECK(!plausible_hello(&hello));
    }
}

IN_JOB(plausible_is_progress_within_the_run)
{
    static const struct run_progress good[] = {{.step = -1, .last_step = 10}, {.step = 10, .last_step = 10},
        {.step = 3, .last_step = 10, .tokens = 24, .patience = 0x1p20}};
    static const struct run_progress bad[] = {{.step = -2, .last_step = 10}, {.step = 11, .last_step = 10},
        {.step = 3, .last_step = 9}, {.step = 3, .last_step = 10, .tokens = -1}};
    struct run_progress idle = {.patience = 30};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        CHECK(plausible_progress(job, 0, &good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(!plausible_progress(job, 0, &bad[i]));
    CHECK(plausible_progress(job, -1, &idle));
    idle.patience = NAN;
    CHECK(!plausible_progress(job, -1, &idle));
    idle.patience = -1;
    CHECK(!plausible_progress(job, -1, &idle));
    idle.patience = INFINITY;
    CHECK(!plausible_progress(job, -1, &idle));
}

IN_JOB(plausible_is_a_result_of_the_run)
{
    static const struct result good[] = {{.outcome = OUTCOME_DONE, .last_step = 10, .diverged_step = -1},
        {.outcome = OUTCOME_DIVERGED, .last_step = 10, .diverged_step = 10},
        {.outcome = OUTCOME_FAILED, .diverged_step = -1, .reason = "no memory"},
        {.outcome = OUTCOME_PENDING, .last_step = 99}};
    static const struct result bad[] = {{.outcome = OUTCOME_RUNNING}, {.outcome = OUTCOME_SKIPPED},
        {.outcome = OUTCOME_COUNT}, {.outcome = -1}, {.outcome = OUTCOME_DONE, .last_step = 11},
        {.outcome = OUTCOME_DONE, .last_step = -1}, {.outcome = OUTCOME_DIVERGED, .diverged_step = 11},
        {.outcome = OUTCOME_DIVERGED, .diverged_step = -2}, {.outcome = OUTCOME_DONE, .tokens = -1},
        {.outcome = OUTCOME_DONE, .dynamics = DYNAMICS_COUNT}, {.outcome = OUTCOME_DONE, .dynamics = -1}};
    struct result endless = {.outcome = OUTCOME_FAILED};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        CHECK(plausible_result(job, 1, &good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(!plausible_result(job, 1, &bad[i]));
    CHECK(plausible_result(job, 1, &endless));
    memset(endless.reason, 'x', sizeof(endless.reason));
    CHECK(!plausible_result(job, 1, &endless));
}

TEST(plausible_is_a_hello_of_a_process)
{
    struct hello hello = {.process = process_self()};

    CHECK(plausible_hello(&hello));
    hello.process.pid = 0;
    CHECK(!plausible_hello(&hello));
    hello.process = process_self();
    memset(hello.process.place, 'x', sizeof(hello.process.place));
    CHECK(!plausible_hello(&hello));
}
