/* A dataset whose values have another order than its sweep: the sweep follows, also where memory is short. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include "driver/dataset/write.h"
#include "driver/sweep/arrange.h"
#include "driver/sweep/grid.h"
#include "driver/sweep/texts.h"

#include <errno.h>
#include <string.h>

static const char yaml[] =
    BASE "seed: [1, 2, 3]\nlearning_rate: [0.1, 0.2]\nskip: [{seed: 3, learning_rate: 0.1}]\n";
static const int64_t listed[] = {2, 0, 1}; /* seeds 3, 1, 2 */

static void prepare(struct bench *bench)
{
    CHECK(sweep_parse(&bench->sweep, "a.yaml", ".", yaml, strlen(yaml), NULL, 0, &bench->error) == 0);
    CHECK(sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0);
}

static void unprepare(struct bench *bench)
{
    corpus_release(&bench->corpus);
    sweep_release(&bench->sweep);
}

static int open_dataset(struct bench *bench)
{
    const struct session session = {"1", "a", "b", "c", "d", "e", "f", "g"};
    const struct dataset_options options = {0};

    bench->dataset = NULL;
    return dataset_open(
        &bench->dataset, bench->path, &bench->sweep, &bench->corpus, &session, &options, &bench->error);
}

/* A file in which seed 1 at learning_rate 0.2 is done; seeds are in the order in which they were listed. */
static void make_output(struct bench *bench)
{
    prepare(bench);
    CHECK(sweep_arrange(&bench->sweep, 0, listed) == 0);
    if (open_dataset(bench) != 0) {
        test_fail(__FILE__, __LINE__, "%s", bench->error.text);
        return;
    }
    bench_write_run(bench, 3, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(dataset_close(bench->dataset, &bench->error) == 0);
    unprepare(bench);
}

/* The open dataset, and its sweep. */
static void check_opened(const struct bench *bench)
{
    static const signed char outcomes[] = {
        OUTCOME_SKIPPED, OUTCOME_PENDING, OUTCOME_PENDING, OUTCOME_DONE, OUTCOME_PENDING, OUTCOME_PENDING};
    struct run run;

    CHECK(memcmp(dataset_outcomes(bench->dataset), outcomes, sizeof(outcomes)) == 0);
    for (int64_t cell = 0; cell < bench->sweep.cells; cell++) {
        sweep_cell(&bench->sweep, cell, &run);
        CHECK(run.seed == listed[cell / 2] + 1 &&
              bench_read_value(bench, "seed", cell / 2) == (double)run.seed);
        CHECK(sweep_skips(&bench->sweep, cell) == (cell == 0));
    }
    CHECK(bench_count_wrong(bench, METRIC_tensor_norm, 3) == 0);
}

/* Opens it while the allocation after `calls` others fails. False: none has failed. */
static bool try_open(struct bench *bench, const char *allocation, int calls)
{
    prepare(bench);
    failing_after(calls, allocation, ENOMEM);
    int result = open_dataset(bench);
    bool failed = failing_end();
    if (result != 0) {
        CHECK(failed && strstr(bench->error.text, "a.nc: ") != NULL);
        CHECK(bench->error.status == ERROR_ENVIRONMENT);
    } else {
        check_opened(bench);
        CHECK(dataset_close(bench->dataset, &bench->error) == 0);
    }
    CHECK(!bench_exists(bench, "a.nc.new"));
    unprepare(bench);
    return failed;
}

TEST(dataset_lends_its_order)
{
    static const char *const allocations[] = {"malloc", "calloc"};
    struct bench bench;

    bench_init(&bench);
    make_output(&bench);
    for (int i = 0; i < 2; i++)
        for (int calls = 0; try_open(&bench, allocations[i], calls); calls++)
            ;
    bench_release(&bench);
}
