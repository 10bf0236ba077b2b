/* Records of runs: read, compared with themselves and with others, and read while calls fail. */
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <string.h>

#define YAML BASE "width: 8\nheads: 2\nlayers: [1, 2]\nlearning_rate: [0.1, 0.01]\n"
enum { LAST_STEP = 10, DONE = 0, OTHER = 1, DIVERGED = 2 };

/* Writes three runs, and opens their dataset for reading. */
static void write_runs(struct bench *bench, struct view *view)
{
    bench_write_run(bench, DONE, OUTCOME_DONE, 1000);
    bench_write_run(bench, OTHER, OUTCOME_DONE, 1000);
    bench_write_run(bench, DIVERGED, OUTCOME_DIVERGED, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(view_open(view, bench->path, &bench->error) == 0);
}

/* Reads the record of a cell; nothing is held on failure. */
static int read_whole(struct bench *bench, struct view *view, int64_t cell, struct record *record)
{
    const struct measure *measure = &bench->sweep.measure;
    struct run run;

    sweep_cell(&bench->sweep, cell, &run);
    if (record_init(record, view, measure, &bench->error) != 0)
        return -1;
    if (record_fits(record, &run, measure, LAST_STEP, &bench->error) == 0 &&
        record_read(record, cell, &bench->error) == 0)
        return 0;
    record_release(record);
    return -1;
}

IN_BENCH(record_equals_itself_and_no_other, YAML)
{
    struct record record[3], again;
    struct view view;

    write_runs(bench, &view);
    for (int64_t cell = 0; cell < 3; cell++) {
        CHECK(read_whole(bench, &view, cell, &record[cell]) == 0);
        CHECK(read_whole(bench, &view, cell, &again) == 0);
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
    view_close(&view);
}

IN_BENCH(record_says_where_a_whole_number_differs, YAML)
{
    char text[DIFFERENCE_TEXT], expected[DIFFERENCE_TEXT];
    struct record stored, again;
    struct view view;

    write_runs(bench, &view);
    CHECK(read_whole(bench, &view, DIVERGED, &stored) == 0);
    CHECK(read_whole(bench, &view, DIVERGED, &again) == 0);
    again.number[RUN_VARIABLE_outcome] = OUTCOME_DONE;
    again.number[RUN_VARIABLE_diverged_step] = -1;
    struct difference difference = record_compare(&stored, &again);
    CHECK(difference.different == 2);
    snprintf(expected, sizeof(expected), "outcome: diverged in %s, done trained again", bench->path);
    CHECK_TEXT(difference_text(&difference, &view, text), expected);
    record_release(&stored);
    record_release(&again);
    view_close(&view);
}

/* One call from each place fails: the record is whole, or the message names the file. */
IN_BENCH(record_with_failing_calls, YAML)
{
    struct record whole, record;
    struct view view;
    int refused = 0;

    write_runs(bench, &view);
    CHECK(read_whole(bench, &view, DIVERGED, &whole) == 0);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        failing_anew(kind->calls, kind->cause);
        int result = read_whole(bench, &view, DIVERGED, &record);
        bool failed = failing_end();
        CHECK(failed || result == 0);
        if (result != 0) {
            CHECK(strstr(bench->error.text, "a.nc: ") != NULL);
            refused++;
            continue;
        }
        CHECK(record_compare(&whole, &record).different == 0 && record.size == whole.size);
        record_release(&record);
    }
    CHECK(refused > 5);
    record_release(&whole);
    view_close(&view);
}
