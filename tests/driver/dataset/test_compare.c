/* Runs of a dataset compared with themselves and with others, also while calls fail. */
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#define YAML BASE "width: 8\nheads: 2\nlayers: [1, 2]\nlearning_rate: [0.1, 0.01]\n"
enum { DONE = 0, OTHER = 1, DIVERGED = 2 };

/* Writes three runs, and opens their dataset for reading. */
static void write_runs(struct bench *bench, struct view *view)
{
    bench_write_run(bench, DONE, OUTCOME_DONE, 1000);
    bench_write_run(bench, OTHER, OUTCOME_DONE, 1000);
    bench_write_run(bench, DIVERGED, OUTCOME_DIVERGED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(view_open(view, bench->path, &bench->error) == 0);
}

IN_BENCH(run_equals_itself_and_no_other, YAML)
{
    struct difference difference;
    struct view view;

    write_runs(bench, &view);
    for (int64_t cell = 0; cell < 3; cell++) {
        CHECK(view_compare(&view, cell, &view, cell, &difference, &bench->error) == 0);
        CHECK(difference.different == 0 && difference.values > 500);
    }
    CHECK(view_compare(&view, DONE, &view, OTHER, &difference, &bench->error) == 0);
    CHECK(difference.different > 500 && difference.metric == METRIC_train_loss && difference.place == 0);
    view_close(&view);
}

IN_BENCH(comparison_says_where_a_whole_number_differs, YAML)
{
    char text[DIFFERENCE_TEXT], expected[DIFFERENCE_TEXT];
    struct difference difference;
    struct view view;

    write_runs(bench, &view);
    CHECK(view_compare(&view, DIVERGED, &view, DONE, &difference, &bench->error) == 0);
    difference.metric = METRIC_COUNT;
    difference.variable = RUN_VARIABLE_outcome;
    difference.stored = OUTCOME_DIVERGED;
    difference.again = OUTCOME_DONE;
    snprintf(expected, sizeof(expected), "outcome: diverged in %s, done trained again", bench->path);
    CHECK_TEXT(difference_text(&difference, &view, text), expected);
    view_close(&view);
}

/* One call from each place fails: the comparison is whole, or the message names the file. */
IN_BENCH(comparison_with_failing_calls, YAML)
{
    struct difference whole, difference;
    struct view view;
    int refused = 0;

    write_runs(bench, &view);
    CHECK(view_compare(&view, DIVERGED, &view, OTHER, &whole, &bench->error) == 0 && whole.different > 0);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        failing_anew(kind->calls, kind->cause);
        int result = view_compare(&view, DIVERGED, &view, OTHER, &difference, &bench->error);
        bool failed = failing_end();
        CHECK(failed || result == 0);
        if (result == 0) {
            CHECK(difference.different == whole.different && difference.values == whole.values);
            continue;
        }
        CHECK(strstr(bench->error.text, "a.nc: ") != NULL);
        refused++;
    }
    CHECK(refused > 3);
    view_close(&view);
}
