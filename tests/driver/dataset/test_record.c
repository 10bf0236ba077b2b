/* Records of runs: read, compared with themselves and with others, and read while calls fail. */
#include "driver/dataset/dataset.h"
#include "driver/dataset/record.h"
#include "driver/sweep/grid.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <string.h>

#define YAML BASE "width: 8\nheads: 2\nlayers: [1, 2]\nlearning_rate: [0.1, 0.01]\n"
enum { LAST_STEP = 10, DONE = 0, OTHER = 1, DIVERGED = 2, LARGE = DIVERGED };

/* A dataset with three runs, open for reading. */
struct looked_at {
    struct bench bench;
    struct view view;
    struct error error;
};

static bool looked_at_init(struct looked_at *looked_at)
{
    struct bench *bench = &looked_at->bench;

    bench_init(bench);
    if (!bench_opens(bench, YAML))
        return false;
    bench_write_run(bench, DONE, OUTCOME_DONE, 1000);
    bench_write_run(bench, OTHER, OUTCOME_DONE, 1000);
    bench_write_run(bench, DIVERGED, OUTCOME_DIVERGED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(view_open(&looked_at->view, bench->path, &looked_at->error) == 0);
    return true;
}

static void looked_at_release(struct looked_at *looked_at)
{
    view_close(&looked_at->view);
    bench_close(&looked_at->bench);
    bench_release(&looked_at->bench);
}

/* Reads the record of a cell; nothing is held on failure. */
static int read_whole(struct looked_at *looked_at, int64_t cell, struct record *record)
{
    const struct measure *measure = &looked_at->bench.sweep.measure;
    struct run run;

    sweep_cell(&looked_at->bench.sweep, cell, &run);
    if (record_init(record, &looked_at->view, measure, &looked_at->error) != 0)
        return -1;
    if (record_fits(record, &run, measure, LAST_STEP, &looked_at->error) == 0 &&
        record_read(record, cell, &looked_at->error) == 0)
        return 0;
    record_release(record);
    return -1;
}

TEST(record_equals_itself_and_no_other)
{
    struct looked_at looked_at;
    struct record record[3], again;

    if (!looked_at_init(&looked_at))
        return;
    for (int64_t cell = 0; cell < 3; cell++) {
        CHECK(read_whole(&looked_at, cell, &record[cell]) == 0);
        CHECK(read_whole(&looked_at, cell, &again) == 0);
        struct difference same = record_compare(&record[cell], &again);
        CHECK(same.different == 0 && same.values > 500);
        record_release(&again);
    }
    struct difference rate = record_compare(&record[DONE], &record[OTHER]);
    CHECK(rate.different > 500 && rate.metric == METRIC_train_loss && rate.place == 0);
    CHECK(record[DIVERGED].number[RUN_VARIABLE_outcome] == OUTCOME_DIVERGED);
    CHECK(record[DIVERGED].number[RUN_VARIABLE_diverged_step] == 7);
    for (int64_t cell = 0; cell < 3; cell++)
        record_release(&record[cell]);
    looked_at_release(&looked_at);
}

TEST(record_says_where_a_whole_number_differs)
{
    char text[DIFFERENCE_TEXT], expected[DIFFERENCE_TEXT];
    struct looked_at looked_at;
    struct record stored, again;

    if (!looked_at_init(&looked_at))
        return;
    CHECK(read_whole(&looked_at, LARGE, &stored) == 0 && read_whole(&looked_at, LARGE, &again) == 0);
    again.number[RUN_VARIABLE_outcome] = OUTCOME_DONE;
    again.number[RUN_VARIABLE_diverged_step] = -1;
    struct difference difference = record_compare(&stored, &again);
    CHECK(difference.different == 2);
    snprintf(expected, sizeof(expected), "outcome: diverged in %s, done trained again", looked_at.bench.path);
    CHECK_TEXT(difference_text(&difference, &looked_at.view, text), expected);
    record_release(&stored);
    record_release(&again);
    looked_at_release(&looked_at);
}

/* One call from each place fails: the record is whole, or the message names the file. */
TEST(record_with_failing_calls)
{
    struct looked_at looked_at;
    struct record whole, record;
    int refused = 0;

    if (!looked_at_init(&looked_at))
        return;
    CHECK(read_whole(&looked_at, LARGE, &whole) == 0);
    for (int i = 0; i < failing_kind_count; i++) {
        bool failed = true;
        failing_forget();
        while (failed) {
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            int result = read_whole(&looked_at, LARGE, &record);
            failed = failing_end();
            CHECK(failed || result == 0);
            if (result != 0) {
                CHECK(strstr(looked_at.error.text, "a.nc: ") != NULL);
                refused++;
                continue;
            }
            CHECK(record_compare(&whole, &record).different == 0 && record.size == whole.size);
            record_release(&record);
        }
    }
    CHECK(refused > 5);
    record_release(&whole);
    looked_at_release(&looked_at);
}
