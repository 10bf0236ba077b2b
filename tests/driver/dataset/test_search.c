/* What a search needs of a dataset: values of runs before and after their commit, cells that are left out. */
#include "driver/sweep/sweep.h"
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#define YAML BASE "seed: [1, 2, 3]\n"

static double growth_of(struct bench *bench, int64_t cell)
{
    double value = -1;

    CHECK(dataset_read(bench->dataset, cell, METRIC_norm_growth, &value, &bench->error) == 0);
    return value;
}

/* The norms of a cell, compared with the file; NaN where the file has none. */
static void check_norms(struct bench *bench, int64_t cell, bool there)
{
    int64_t steps = dataset_layout(bench->dataset)->step_count;
    double *norm = calloc((size_t)steps, sizeof(*norm));

    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(dataset_read(bench->dataset, cell, METRIC_param_norm, norm, &bench->error) == 0);
    for (int64_t i = 0; i < steps; i++) {
        double stored = bench_read_value(bench, "param_norm", cell * steps + i);
        CHECK(there ? norm[i] == stored : isnan(norm[i]) && isnan(stored));
    }
    free(norm);
}

IN_BENCH(dataset_reads_what_was_written_before_and_after_the_commit, YAML)
{
    bench_write_run(bench, 1, OUTCOME_DONE, 3);
    double growth = bench_growth(bench, 1);
    CHECK(growth_of(bench, 1) == growth && isnan(growth_of(bench, 0)));
    check_norms(bench, 1, true);
    check_norms(bench, 0, false);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(growth_of(bench, 1) == growth && isnan(growth_of(bench, 2)));
    if (!bench_reopens(bench, YAML))
        return;
    CHECK(growth_of(bench, 1) == growth);
    check_norms(bench, 1, true);
}

IN_BENCH(dataset_reads_nothing_of_what_is_not_measured,
    "title: a test\ncorpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\n"
    "steps: 10\nmeasure: {every: 5, metrics: []}\n")
{
    double norm[8] = {0};

    CHECK(dataset_layout(bench->dataset)->step_count == 3);
    CHECK(dataset_read(bench->dataset, 0, METRIC_param_norm, norm, &bench->error) == 0);
    CHECK(isnan(norm[0]) && isnan(norm[1]) && isnan(norm[2]) && norm[3] == 0);
}

/* The reads and writes in between fail, each once. */
IN_BENCH(dataset_that_cannot_be_read_says_so, YAML)
{
    static const char *const calls[] = {"pread", "pwrite"};

    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    for (int i = 0; i < 2; i++) {
        double norm[8];
        bench_write_row(bench, 2, 5, 1000);
        failing_next(calls[i], EIO);
        CHECK(dataset_read(bench->dataset, 1, METRIC_param_norm, norm, &bench->error) == -1);
        CHECK(failing_end() && strstr(bench->error.text, "a.nc: "));
    }
    dataset_forget(bench->dataset);
}

/* ---- cells that are left out ---- */

static int leave(struct bench *bench, int64_t cell)
{
    return dataset_leave(bench->dataset, cell, "not needed", PHASE_SHRINKING, &bench->error);
}

static int outcome_of(const struct bench *bench, int64_t cell)
{
    return dataset_outcomes(bench->dataset)[cell];
}

IN_BENCH(dataset_leaves_out_and_takes_back_cells_that_have_not_ended, YAML)
{
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(leave(bench, 0) == 0 && outcome_of(bench, 0) == OUTCOME_DONE);
    CHECK(leave(bench, 1) == 0 && outcome_of(bench, 1) == OUTCOME_SKIPPED);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(bench_read_value(bench, "outcome", 1) == OUTCOME_SKIPPED);
    CHECK(bench_read_value(bench, "phase", 1) == PHASE_SHRINKING);
    CHECK(dataset_need(bench->dataset, 0, &bench->error) == 0 && outcome_of(bench, 0) == OUTCOME_DONE);
    CHECK(dataset_need(bench->dataset, 1, &bench->error) == 0 && outcome_of(bench, 1) == OUTCOME_PENDING);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(bench_read_value(bench, "outcome", 1) == OUTCOME_PENDING);
}

/* A run that was begun has rows, which go; its attempts stay. */
IN_BENCH(dataset_leaves_no_values_of_a_run_that_was_begun, YAML)
{
    CHECK(dataset_start(bench->dataset, 2, "here", 1, 0, &bench->error) == 0);
    bench_write_row(bench, 2, 5, 1000);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
    CHECK(!isnan(bench_read_value(bench, "param_norm", 2 * dataset_layout(bench->dataset)->step_count + 1)));
    CHECK(leave(bench, 2) == 0 && outcome_of(bench, 2) == OUTCOME_RUNNING); /* it goes on */
    CHECK(dataset_return(bench->dataset, 2, &bench->error) == 0);
    CHECK(leave(bench, 2) == 0 && outcome_of(bench, 2) == OUTCOME_SKIPPED);
    check_norms(bench, 2, false);
    CHECK(bench_read_value(bench, "attempts", 2) == 1);
}
