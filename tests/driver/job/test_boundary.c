/* The boundary of datasets whose boundary is known. */
#include "driver/dataset/write.h"
#include "driver/job/boundary.h"
#include "driver/sweep/grid.h"
#include "tests/driver/dataset/bench.h"
#include "tests/test.h"

#include <math.h>

#define BRIEF "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nmeasure: {every: 5}\n"

enum { RATES = 3, SEEDS = 3 };

/* The boundary is rate^0.6 times 2, 2.2, 2.4 for the seeds 0, 1, 2, and falls with the number of steps. */
static double boundary_at(const struct run *run)
{
    return pow(run->learning_rate, 0.6) * (2 + 0.2 * (double)run->seed) * 10 / (double)run->steps;
}

static double growth_at(const struct run *run)
{
    return run->weight_decay > 0 ? pow(run->weight_decay / boundary_at(run), -0.5) : 9;
}

static void write_run(struct bench *bench, int64_t cell, enum outcome outcome, double growth)
{
    struct result result = {.outcome = (int64_t)outcome, .last_step = 10, .diverged_step = -1};
    double row[100];
    struct run run;

    sweep_cell(&bench->sweep, cell, &run);
    const struct metric_form form = metric_form(&run, &bench->sweep.measure);
    CHECK(form.run_size <= sizeof(row) / sizeof(*row));
    for (size_t i = 0; i < form.run_size; i++)
        row[i] = NAN;
    row[form.offset[METRIC_norm_growth]] = result.norm_growth = growth;
    CHECK(dataset_start(bench->dataset, cell, "here", 0, &bench->error) == 0);
    CHECK(dataset_row(bench->dataset, cell, STEP_OF_RUN, row, 0, form.run_size, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, cell, &result, &bench->error) == 0);
}

static void write_all(struct bench *bench)
{
    struct run run;

    for (int64_t cell = 0; cell < bench->sweep.cells; cell++) {
        sweep_cell(&bench->sweep, cell, &run);
        write_run(bench, cell, OUTCOME_DONE, growth_at(&run));
    }
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
}

static void update(struct bench *bench, bool ended)
{
    CHECK(boundary_update(&bench->sweep, bench->dataset, NULL, ended, &bench->error) == 0);
    CHECK(dataset_flush(bench->dataset, &bench->error) == 0);
}

static const char power_law[] =
    BRIEF "steps: [10, 40]\nlearning_rate: [0.1, 0.01, 0.001]\n"
          "weight_decay: {log: [10, 1e-5], points: 61, plus: [0]}\nseed: {range: [0, 2]}\n";

static void check_power_law(const struct bench *bench)
{
    for (int64_t line = 0; line < 2 * RATES * SEEDS; line++) {
        struct run run;
        sweep_cell(&bench->sweep, line / SEEDS * 62 * SEEDS + line % SEEDS, &run);
        double boundary = bench_read_value(bench, "boundary", line);
        CHECK_CLOSE(boundary / boundary_at(&run), 1, 1e-12);
        CHECK(bench_read_value(bench, "boundary_low", line) < boundary);
        CHECK(bench_read_value(bench, "boundary_high", line) > boundary);
        CHECK_CLOSE(bench_read_value(bench, "boundary_high", line),
            pow(10, 0.1) * bench_read_value(bench, "boundary_low", line), 1e-9);
        CHECK(isnan(bench_read_value(bench, "predicted_boundary", line))); /* no norms were written */
    }
    for (int64_t i = 0; i < 2; i++) {
        CHECK_CLOSE(bench_read_value(bench, "boundary_slope", i), 0.6, 1e-12);
        CHECK(bench_read_value(bench, "boundary_slope_low", i) < 0.6);
        CHECK(bench_read_value(bench, "boundary_slope_low", i) > 0.5);
        CHECK(bench_read_value(bench, "boundary_slope_high", i) > 0.6);
        CHECK(bench_read_value(bench, "boundary_slope_high", i) < 0.7);
        CHECK_CLOSE(bench_read_value(bench, "boundary_rejects", i), 3, 0);
    }
    for (int64_t i = 0; i < RATES; i++) {
        CHECK_CLOSE(bench_read_value(bench, "boundary_steps_slope", i), -1, 1e-12);
        CHECK(bench_read_value(bench, "boundary_steps_slope_low", i) < -1);
        CHECK(bench_read_value(bench, "boundary_steps_slope_high", i) > -1);
    }
}

TEST(boundary_of_power_laws_has_their_slopes)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, power_law))
        return;
    CHECK(isnan(bench_read_value(&bench, "boundary", 0)));
    CHECK(isnan(bench_read_value(&bench, "boundary_rejects", 0)));
    write_all(&bench);
    update(&bench, true);
    check_power_law(&bench);
    bench_close(&bench);
    if (!bench_opens(&bench, power_law))
        return;
    check_power_law(&bench);
    update(&bench, false);
    CHECK(isnan(bench_read_value(&bench, "boundary", 5)));
    CHECK(isnan(bench_read_value(&bench, "boundary_high", 5)));
    CHECK(isnan(bench_read_value(&bench, "boundary_slope_low", 1)));
    CHECK(isnan(bench_read_value(&bench, "boundary_rejects", 1)));
    bench_close(&bench);
    bench_release(&bench);
}

/* The numbers of a part are not those of the whole: they are not taken over. */
TEST(boundary_of_a_grown_dataset_is_not_copied)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, BRIEF "steps: 10\nlearning_rate: [0.1, 0.01]\nweight_decay: [10, 1e-5]\n"))
        return;
    write_all(&bench);
    update(&bench, true);
    CHECK(!isnan(bench_read_value(&bench, "boundary", 1)));
    CHECK_CLOSE(bench_read_value(&bench, "boundary_slope", 0), 0.6, 1e-12);
    CHECK(isnan(bench_read_value(&bench, "boundary_slope_low", 0)));
    CHECK(isnan(bench_read_value(&bench, "boundary_rejects", 0)));
    bench_close(&bench);
    if (!bench_opens(&bench, BRIEF "steps: 10\nlearning_rate: [0.1, 0.01]\nweight_decay: [10, 1, 1e-5]\n"))
        return;
    CHECK_CLOSE(bench_read_value(&bench, "norm_growth", 0), pow(10 / (2 * pow(0.1, 0.6)), -0.5), 1e-12);
    CHECK(isnan(bench_read_value(&bench, "boundary", 1)));
    CHECK(isnan(bench_read_value(&bench, "boundary_slope", 0)));
    bench_close(&bench);
    bench_release(&bench);
}

/* Three decays at four rates: one line crosses, one has its only crossing beside a decay of 0, one does not
 * cross, and one has lost its middle run. */
TEST(boundary_is_missing_where_nothing_crosses)
{
    static const double growth[] = {3, 2, 0.5, 2, 0.5, 0.1, 3, 2, 1.5, 4, 9, 0.25};
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(
            &bench, BRIEF "steps: 10\nlearning_rate: [0.1, 0.01, 0.001, 0.0001]\nweight_decay: [0, 1, 4]\n"))
        return;
    for (int64_t cell = 0; cell < 12; cell++)
        write_run(&bench, cell, cell == 10 ? OUTCOME_DIVERGED : OUTCOME_DONE, growth[cell]);
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    update(&bench, true);
    CHECK_CLOSE(bench_read_value(&bench, "boundary", 0), 2, 1e-12);
    CHECK(bench_read_value(&bench, "boundary_low", 0) == 1 &&
          bench_read_value(&bench, "boundary_high", 0) == 4);
    CHECK(isnan(bench_read_value(&bench, "boundary", 1)) && isnan(bench_read_value(&bench, "boundary", 2)));
    CHECK(bench_read_value(&bench, "boundary_low", 1) == 0 &&
          bench_read_value(&bench, "boundary_high", 1) == 1);
    CHECK(isnan(bench_read_value(&bench, "boundary_low", 2)));
    CHECK(isnan(bench_read_value(&bench, "boundary", 3)));
    CHECK(bench_read_value(&bench, "boundary_low", 3) == 0 &&
          bench_read_value(&bench, "boundary_high", 3) == 4);
    CHECK(isnan(bench_read_value(&bench, "boundary_slope", 0)));
    bench_close(&bench);
    bench_release(&bench);
}

/* Along another axis, the first of the grid, and of a value other than 1; skipped cells are gaps. */
TEST(boundary_is_what_refine_looks_for)
{
    struct bench bench;

    bench_init(&bench);
    if (!bench_opens(&bench, BRIEF "steps: 10\nlearning_rate: {log: [1e-4, 1], points: 9}\n"
                                   "weight_decay: [0.01, 0.1]\nrefine: {axis: learning_rate, at: 3}\n"))
        return;
    for (int64_t cell = 0; cell < bench.sweep.cells; cell++) {
        struct run run;
        sweep_cell(&bench.sweep, cell, &run);
        if (cell / 2 % 2 == 0)
            write_run(&bench, cell, OUTCOME_DONE, growth_at(&run));
        else
            CHECK(dataset_leave(bench.dataset, cell, "not needed", PHASE_NONE, &bench.error) == 0);
    }
    CHECK(dataset_commit(bench.dataset, &bench.error) == 0);
    update(&bench, true);
    for (int64_t line = 0; line < 2; line++) {
        double decay = line ? 0.1 : 0.01;
        CHECK_CLOSE(bench_read_value(&bench, "boundary", line), pow(9 * decay / 2, 1 / 0.6), 1e-12);
        CHECK_CLOSE(bench_read_value(&bench, "boundary_high", line),
            10 * bench_read_value(&bench, "boundary_low", line), 1e-9);
    }
    bench_close(&bench);
    bench_release(&bench);
}
