/* What a dataset tells of how its sweep stands, against what was written into it. */
#include "driver/dataset/view.h"
#include "driver/dataset/write.h"
#include "driver/picture/survey.h"
#include "driver/picture/throughput.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/texts.h"
#include "driver/text/quote.h"
#include "tests/driver/dataset/bench.h"
#include "tests/test.h"

#include <stdlib.h>

/* Surveys the bench's file as it is; false and a failed test where that cannot be done. */
static bool survey_bench(struct survey *survey, struct view *view, const struct bench *bench, bool held,
    const struct survey *before, double now)
{
    struct error error;

    if (view_open(view, bench->path, &error) == 0) {
        if (survey_make(survey, view, held, before, now, &error) == 0)
            return true;
        view_close(view);
    }
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

static void forget(struct survey *survey, struct view *view)
{
    survey_release(survey);
    view_close(view);
}

/*
 * Runs of 10 and of 20 steps of 8 tokens, three of each. One short run has ended (in 2 s, at 1000 tokens/s),
 * one has failed; one long run is at step 10, another has not told anything yet.
 */
static const char six_runs[] = BASE_WITHOUT_STEPS "steps: [10, 20]\nseed: [1, 2, 3]\n";

static bool has_six_runs(struct bench *bench)
{
    bench_init(bench);
    if (!bench_opens(bench, six_runs))
        return false;
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    bench_write_run(bench, 1, OUTCOME_FAILED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(dataset_start(bench->dataset, 3, "node07", 0, &bench->error) == 0);
    CHECK(dataset_start(bench->dataset, 4, "node08", 0, &bench->error) == 0);
    for (int64_t step = 0; step <= 10; step += 5)
        bench_write_row(bench, 3, step, 1000);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    return true;
}

TEST(survey_of_a_sweep_that_runs)
{
    struct survey survey;
    struct bench bench;
    struct view view;

    if (!has_six_runs(&bench))
        return;
    if (!survey_bench(&survey, &view, &bench, true, NULL, 100))
        return;
    CHECK(survey.runs == 6 && survey.ended == 2 && survey.running == 2);
    CHECK(survey.count[OUTCOME_PENDING] == 2 && survey.count[OUTCOME_FAILED] == 1);
    CHECK(survey.kinds.count == 2);
    CHECK(survey.run[0].cell == 3 && survey.run[0].step == 10 && survey.run[0].anew);
    CHECK_CLOSE(survey.run[0].loss, bench_read_value(&bench, "train_loss", 3 * 5 + 2), 0);
    CHECK(survey.run[1].cell == 4 && survey.run[1].step == 0 && isnan(survey.run[1].loss));
    CHECK_TEXT(survey.run[0].host, "node07");
    CHECK_CLOSE(survey.growth[0], bench_growth(&bench, 0), 0);
    CHECK(isnan(survey.growth[3]));
    CHECK_CLOSE(survey.speed, 1000, 0);
    CHECK_CLOSE(survey.seconds, 2, 0);
    CHECK_CLOSE(survey.tokens, 8 * 10 + 8 * 10, 0);
    CHECK_CLOSE(survey.rate, 8 * 10 / 2, 0);
    /* 0.2 s a step: pending runs of 2 s and 4 s, 2 s and 4 s of those under way; two workers */
    CHECK_CLOSE(survey.left, 6, 1e-9);
    forget(&survey, &view);
    bench_close(&bench);
    bench_release(&bench);
}

/* What has not told anything new is heard of since the earlier survey, and has gone on meanwhile. */
TEST(survey_after_another)
{
    struct survey first, second;
    struct bench bench;
    struct view views[2];

    if (!has_six_runs(&bench))
        return;
    if (!survey_bench(&first, &views[0], &bench, true, NULL, 100))
        return;
    bench_write_row(&bench, 4, 0, 1000);
    bench_write_row(&bench, 4, 5, 1000);
    CHECK(dataset_flush(bench.dataset, &bench.error) == 0);
    if (!survey_bench(&second, &views[1], &bench, true, &first, 100.5))
        return;
    CHECK_CLOSE(first.run[0].heard, 100, 0);
    CHECK_CLOSE(second.run[0].heard, 100, 0);
    CHECK_CLOSE(second.run[1].heard, 100.5, 0);
    CHECK(second.run[1].step == 5);
    CHECK_CLOSE(second.left, (2 + 4 + 1.5 + 3) / 2, 1e-9);
    forget(&first, &views[0]);
    forget(&second, &views[1]);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(survey_of_a_sweep_that_was_stopped)
{
    struct survey survey;
    struct bench bench;
    struct view view;

    if (!has_six_runs(&bench))
        return;
    if (!survey_bench(&survey, &view, &bench, false, NULL, 100))
        return;
    CHECK(survey.running == 0 && survey.count[OUTCOME_RUNNING] == 0 && survey.count[OUTCOME_PENDING] == 4);
    CHECK(isnan(survey.left));
    forget(&survey, &view);
    bench_close(&bench);
    bench_release(&bench);
}

/* The file does not say how long an epoch is; the longest run's last step is the last of all. */
TEST(survey_tells_the_last_step_of_epochs)
{
    struct survey survey;
    struct corpus corpus;
    struct bench bench;
    struct view view;
    struct run run;

    bench_init(&bench);
    if (!bench_opens(&bench, "corpus: markov\nvocabulary: 9\ncorpus_tokens: 4000\ncontext: 4\nepochs: 3\n"
                             "seed: [1, 2]\nbatch: [8, 2, 4]\nmeasure: {every: 100}\n"))
        return;
    if (sweep_load_corpus(&bench.sweep, &corpus, &bench.error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", bench.error.text);
        return;
    }
    if (!survey_bench(&survey, &view, &bench, true, NULL, 100))
        return;
    CHECK(survey.kinds.count == 3);
    for (int64_t cell = 0; cell < 6; cell++) {
        sweep_cell(&bench.sweep, cell, &run);
        const struct kind *kind = &survey.kinds.kind[kinds_find(&survey.kinds, cell)];
        CHECK(kind->last_step == run_last_step(&run, &corpus));
        CHECK(kind->pending == 2);
    }
    CHECK(survey.kinds.kind[0].step_cost > survey.kinds.kind[2].step_cost);
    forget(&survey, &view);
    corpus_release(&corpus);
    bench_close(&bench);
    bench_release(&bench);
}

TEST(throughput_takes_several_jumps)
{
    struct throughput throughput = {0};

    throughput_add(&throughput, 0, NAN);
    for (int i = 0; i <= THROUGHPUT_JUMPS; i++) {
        CHECK(isnan(throughput_rate(&throughput)));
        throughput_add(&throughput, 10 * i, 500 * i);
        throughput_add(&throughput, 10 * i + 5, 500 * i);
    }
    CHECK_CLOSE(throughput_rate(&throughput), 50, 1e-9);
    for (int i = 1; i <= 2 * THROUGHPUT_SAMPLES; i++)
        throughput_add(&throughput, 50 + i, 2500 + 100 * i);
    CHECK_CLOSE(throughput_rate(&throughput), 100, 1e-9);
    throughput_add(&throughput, 1000, 3); /* another dataset */
    CHECK(isnan(throughput_rate(&throughput)));
}

TEST(quoted_paths)
{
    static const char *const paths[][2] = {
        {"a/b-1.nc", "a/b-1.nc"},
        {"-o.nc", "./-o.nc"},
        {"- o.nc", "'./- o.nc'"},
        {"it's $HOME.nc", "'it'\\''s $HOME.nc'"},
        {"gr\xc3\xb6\xc3\x9f"
         "e.nc",
            "'gr\xc3\xb6\xc3\x9f"
            "e.nc'"},
        {"~x.nc", "'~x.nc'"},
        {"", "''"},
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        char *quoted = quote_path(paths[i][0]);
        CHECK_TEXT(quoted, paths[i][1]);
        free(quoted);
    }
}
