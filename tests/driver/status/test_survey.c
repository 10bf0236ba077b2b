/* The state of a sweep as read from its dataset, compared with what was written. */
#include "driver/status/inside.h"
#include "tests/driver/dataset/bench.h"

/* Surveys the bench's file; on failure returns false and fails the test. */
static bool survey_bench(
    struct survey *survey, const struct bench *bench, bool held, const struct survey *before, double now)
{
    struct error error;

    if (survey_make(survey, bench->path, held, before, now, &error) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

/*
 * Runs of 10 and of 20 steps of 8 tokens, three of each. One short run has ended (in 2 s, at 1000 tokens/s),
 * one has failed; one long run is at step 10, another has no row yet.
 */
#define SIX_RUNS BASE_WITHOUT_STEPS "steps: [10, 20]\nseed: [1, 2, 3]\n"

static void write_six_runs(struct bench *bench)
{
    const struct pace pace = {.seconds_left = 6.5, .tokens_per_second = 750, .workers = 2};

    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    bench_write_run(bench, 1, OUTCOME_FAILED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(dataset_start(bench->dataset, 3, "node07", 1, 0, &bench->error) == 0);
    CHECK(dataset_start(bench->dataset, 4, "node08", 1, 0, &bench->error) == 0);
    for (int64_t step = 0; step <= 10; step += 5)
        bench_write_row(bench, 3, step, 1000);
    CHECK(dataset_put_pace(bench->dataset, &pace, &bench->error) == 0);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
}

IN_BENCH(survey_of_a_sweep_that_runs, SIX_RUNS)
{
    struct survey survey;

    write_six_runs(bench);
    if (!survey_bench(&survey, bench, true, NULL, 100))
        return;
    CHECK(survey.runs == 6 && survey.ended == 2 && survey.running == 2);
    CHECK(survey.count[OUTCOME_PENDING] == 2 && survey.count[OUTCOME_FAILED] == 1);
    CHECK(survey.run[0].cell == 3 && survey.run[0].step == 10 && survey.run[0].last_step == 20);
    CHECK_CLOSE(survey.run[0].loss, bench_read_value(bench, "train_loss", 3 * 5 + 2), 0);
    CHECK(survey.run[1].cell == 4 && survey.run[1].step == 0 && isnan(survey.run[1].loss));
    CHECK_TEXT(survey.run[0].host, "node07");
    CHECK_CLOSE(survey.growth[0], bench_growth(bench, 0), 0);
    CHECK(isnan(survey.growth[3]));
    CHECK_CLOSE(survey.mean_rate, 1000, 0);
    CHECK_CLOSE(survey.mean_seconds, 2, 0);
    CHECK(survey.left == 6.5 && survey.rate == 750);
    CHECK(bench_read_value(bench, "session_workers", 0) == 2);
    survey_release(&survey);
}

/* A run without a new row keeps the time of the earlier survey. */
IN_BENCH(survey_after_another, SIX_RUNS)
{
    struct survey first, second;

    write_six_runs(bench);
    if (!survey_bench(&first, bench, true, NULL, 100))
        return;
    bench_write_row(bench, 4, 0, 1000);
    bench_write_row(bench, 4, 5, 1000);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    if (!survey_bench(&second, bench, true, &first, 100.5))
        return;
    CHECK_CLOSE(first.run[0].heard, 100, 0);
    CHECK_CLOSE(second.run[0].heard, 100, 0);
    CHECK_CLOSE(second.run[1].heard, 100.5, 0);
    CHECK(second.run[1].step == 5);
    survey_release(&first);
    survey_release(&second);
}

IN_BENCH(survey_of_a_sweep_that_was_stopped, SIX_RUNS)
{
    struct survey survey;

    write_six_runs(bench);
    if (!survey_bench(&survey, bench, false, NULL, 100))
        return;
    CHECK(survey.running == 0 && survey.count[OUTCOME_RUNNING] == 0 && survey.count[OUTCOME_PENDING] == 4);
    CHECK(isnan(survey.left) && isnan(survey.rate));
    survey_release(&survey);
}

static void check_last_step(struct bench *bench, const char *yaml, int64_t cell, int64_t last_step)
{
    struct survey survey;

    if (!bench_opens(bench, yaml))
        return;
    CHECK(dataset_start(bench->dataset, cell, "node07", 1, 0, &bench->error) == 0);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    if (!survey_bench(&survey, bench, true, NULL, 100))
        return;
    CHECK(survey.running == 1);
    CHECK_CLOSE((double)survey.run[0].last_step, (double)last_step, 0);
    CHECK(isnan(survey.left) && isnan(survey.rate));
    survey_release(&survey);
    bench_close(bench);
    unlink(bench->path);
}

/* The file does not store the length of an epoch: the last step of the file is that of every run, if all
 * have the same length. */
IN_BENCH(survey_tells_the_last_step, NULL)
{
    check_last_step(bench, BASE "seed: [1, 2]\n", 1, 10);
    check_last_step(bench, SIX_RUNS, 2, 10);
    check_last_step(bench, SIX_RUNS, 3, 20);
    check_last_step(bench, BASE_WITHOUT_STEPS "epochs: 2\nseed: [1, 2]\n", 1, 98);
    check_last_step(bench, BASE_WITHOUT_STEPS "epochs: [1, 2]\n", 1, -1);
}
