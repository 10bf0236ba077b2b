/*
 * Writes a made-up dataset with every kind of axis, variable and outcome for the Python tests, to the path
 * NORMSWEEP_SAMPLE if that is set; for the sweep file NORMSWEEP_SAMPLE_SWEEP if set, else for the one here.
 * With NORMSWEEP_SAMPLE_FOREVER it writes until it is killed.
 */
#include "tests/test.h"

#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/sweep/inside.h"

static const char yaml[] =
    "title: A sample, träumerisch\n"
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nsteps: 20\n"
    "learning_rate: {log: [1e-1, 1e-5], points: 6}\n"
    "weight_decay: {log: [1e-1, 1e-5], points: 5, plus: [0]}\n"
    "norm_placement: [out, pre, post]\n"
    "bias: [true, false]\n"
    "seed: {range: [0, 1]}\n"
    "together: {model: {small: {width: 8, heads: 2, optimiser: adamw}, "
    "größer: {width: 16, heads: 4, optimiser: sgd}}}\n"
    "skip: [{norm_placement: post, model: größer}]\n"
    "measure: {every: 10}\n";

static double made_up_growth(const struct run *run)
{
    double balance = run->learning_rate / (run->weight_decay + 1e-4);

    return 0.5 + 0.5 * pow(balance, 0.2) + 1e-3 * (double)run->seed;
}

static void write_rows(struct dataset *dataset, const struct sweep *sweep, int64_t cell,
    const struct run *run, struct error *error)
{
    double row[4000];
    const struct metric_form form = metric_form(run, &sweep->measure);
    size_t size = form.row_size;

    CHECK(size <= sizeof(row) / sizeof(*row));
    for (int64_t step = 0; step <= run->steps; step += 10) {
        for (size_t i = 0; i < size; i++)
            row[i] = (double)i + (made_up_growth(run) - 1) * (double)step / (double)run->steps;
        if (step == run->steps)
            row[form.offset[METRIC_alignment]] = NAN;
        CHECK(dataset_row(dataset, cell, step, row, 0, size, error) == 0);
    }
}

static void write_run_row(struct dataset *dataset, const struct sweep *sweep, int64_t cell,
    const struct run *run, double growth, struct error *error)
{
    const struct metric_form form = metric_form(run, &sweep->measure);
    double row[200];

    CHECK(form.run_size <= sizeof(row) / sizeof(*row));
    for (size_t i = 0; i < form.run_size; i++)
        row[i] = (double)i;
    row[form.offset[METRIC_norm_growth]] = growth;
    CHECK(dataset_row(dataset, cell, STEP_OF_RUN, row, 0, form.run_size, error) == 0);
}

static void write_run(struct dataset *dataset, const struct sweep *sweep, int64_t cell, struct error *error)
{
    struct result result = {.outcome = OUTCOME_DONE, .last_step = 20, .diverged_step = -1};
    struct run run;

    sweep_cell(sweep, cell, &run);
    CHECK(dataset_start(dataset, cell, "node7", 1, 0, error) == 0);
    write_rows(dataset, sweep, cell, &run, error);
    result.norm_growth = made_up_growth(&run);
    result.seconds = 3;
    result.step_seconds = 2;
    result.tokens = 160;
    if (run.learning_rate > 0.05 && run.weight_decay == 0) {
        result.outcome = OUTCOME_DIVERGED;
        result.diverged_step = result.last_step = 13;
        result.norm_growth = NAN;
    }
    write_run_row(dataset, sweep, cell, &run, result.norm_growth, error);
    if (cell == 1) {
        result.outcome = OUTCOME_FAILED;
        strcpy(result.reason, "the größte Anzahl died");
    }
    CHECK(dataset_result(dataset, cell, &result, error) == 0);
}

/* The last cell before `end` that is not skipped; -1: none. */
static int64_t cell_before(const struct sweep *sweep, int64_t end)
{
    do
        end--;
    while (end >= 0 && sweep_skips(sweep, end));
    return end;
}

/* Writes all runs; if there are more than two, one of the last two is running and the other pending. */
static void write_sample(struct dataset *dataset, const struct sweep *sweep, bool slowly, struct error *error)
{
    int64_t pending = cell_before(sweep, sweep->cells), running = cell_before(sweep, pending);
    int64_t end = running > 0 ? running : sweep->cells;

    for (int64_t cell = 0; cell < end; cell++) {
        if (sweep_skips(sweep, cell))
            continue;
        write_run(dataset, sweep, cell, error);
        if (cell % (sweep->cells / 100 + 1) == 0 || slowly)
            CHECK(dataset_commit(dataset, error) == 0);
        if (slowly)
            usleep(1000);
    }
    if (running > 0)
        CHECK(dataset_start(dataset, running, "node8", 1, 0, error) == 0);
    CHECK(dataset_commit(dataset, error) == 0);
}

TEST(dataset_sample)
{
    static const struct session session = {
        "1.2.3", "abcdef", "a compiler", "a library", "a kernel", "a level", "an MPI", "a host", "bad hosts"};
    const char *path = getenv("NORMSWEEP_SAMPLE"), *forever = getenv("NORMSWEEP_SAMPLE_FOREVER");
    struct dataset_options options = {.fresh = true};
    struct dataset *dataset;
    struct corpus corpus;
    struct sweep sweep;
    struct error error;

    if (!path) {
        test_skip("writes a dataset for tests/driver/dataset/test_dataset.py, which runs and checks it");
        return;
    }
    const char *file = getenv("NORMSWEEP_SAMPLE_SWEEP");
    int read = file ? sweep_load(&sweep, file, NULL, 0, &error)
                    : sweep_parse(&sweep, "sample.yaml", ".", yaml, strlen(yaml), NULL, 0, &error);
    if (read != 0 || sweep_load_corpus(&sweep, &corpus, &error) != 0 ||
        dataset_open(&dataset, path, &sweep, &corpus, &session, &options, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return;
    }
    do {
        write_sample(dataset, &sweep, forever != NULL, &error);
    } while (forever);
    CHECK(dataset_close(dataset, &error) == 0);
    corpus_release(&corpus);
    sweep_release(&sweep);
}
