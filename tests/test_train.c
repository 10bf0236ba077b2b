/* One run from beginning to end. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "worker/train.h"

struct rows {
    int64_t count, steps[64];
    double values[64][256];
    int64_t stop_at;
};

static void keep_row(void *context, int64_t step, const double *values, size_t count)
{
    struct rows *rows = context;

    CHECK(rows->count < 64 && count <= 256);
    memcpy(rows->values[rows->count], values, count * sizeof(*values));
    rows->steps[rows->count++] = step;
}

static bool until(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct rows *rows = context;

    CHECK(step <= last_step && tokens > 0);
    return !rows->stop_at || step < rows->stop_at;
}

static struct run small_run(void)
{
    struct run run;

    run_init(&run);
    run.corpus = CORPUS_MARKOV;
    run.corpus_tokens = 5000;
    run.vocabulary = 32;
    run.layers = 2;
    run.width = 16;
    run.heads = 2;
    run.feedforward = 24;
    run.context = 12;
    run.batch = 4;
    run.steps = 40;
    return run;
}

static void load(struct corpus *corpus)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 32, .tokens = 5000};
    enum corpus_fault fault;
    struct error error;

    CHECK(corpus_load(corpus, &source, &fault, &error) == 0);
}

static double value(const struct rows *rows, int64_t row, enum metric metric, int64_t layers)
{
    return rows->values[row][metric_offset(metric, layers)];
}

TEST(train_measures_and_repeats)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    static struct rows rows, again;
    struct observer observer = {&rows, keep_row, until, NULL}, second = {&again, keep_row, until, NULL};
    struct result result, repeated;

    load(&corpus);
    measure_init(&measure);
    measure.every = 10;
    rows.count = again.count = 0;
    train(&run, &corpus, &measure, &observer, &result);
    CHECK(result.outcome == OUTCOME_DONE && result.last_step == 40 && result.diverged_step == -1);
    CHECK(rows.count == 5 && rows.steps[0] == 0 && rows.steps[4] == 40);
    double first = value(&rows, 0, METRIC_param_norm, 2), last = value(&rows, 4, METRIC_param_norm, 2);
    CHECK_CLOSE(result.values[metric_offset(METRIC_norm_growth, 2)], last / first, 1e-15);
    CHECK(isnan(value(&rows, 0, METRIC_direction_cosine, 2)));
    CHECK(isnan(value(&rows, 4, METRIC_step_size, 2)));
    CHECK(isfinite(value(&rows, 4, METRIC_valid_loss, 2)) && isnan(value(&rows, 2, METRIC_valid_loss, 2)));
    for (int64_t row = 0; row < 4; row++)
        CHECK_CLOSE(value(&rows, row, METRIC_balance_error, 2), 0, 1e-14);
    CHECK(value(&rows, 4, METRIC_train_loss, 2) < value(&rows, 0, METRIC_train_loss, 2));

    train(&run, &corpus, &measure, &second, &repeated);
    CHECK(memcmp(&rows, &again, sizeof(rows)) == 0);
    CHECK(memcmp(result.values, repeated.values, sizeof(result.values)) == 0);
    measure_release(&measure);
    corpus_release(&corpus);
}

TEST(train_divergence_is_a_result)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    struct result result;

    load(&corpus);
    measure_init(&measure);
    run.optimiser = OPTIMISER_SGD;
    run.learning_rate = 1e30;
    train(&run, &corpus, &measure, NULL, &result);
    CHECK(result.outcome == OUTCOME_DIVERGED);
    CHECK(result.diverged_step > 0 && result.diverged_step < 5 && result.last_step == result.diverged_step);
    corpus_release(&corpus);
}

/* Weights that square to infinity are seen by their norm, before any loss. */
TEST(train_diverges_by_the_norm)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    static struct rows rows;
    struct observer observer = {&rows, keep_row, until, NULL};
    struct result result;

    load(&corpus);
    measure_init(&measure);
    measure.every = 1;
    run.learning_rate = 1e200;
    train(&run, &corpus, &measure, &observer, &result);
    CHECK(result.outcome == OUTCOME_DIVERGED && result.diverged_step == 1);
    CHECK(rows.count == 2 && rows.steps[1] == 1);
    CHECK(!isfinite(value(&rows, 1, METRIC_total_norm, 2)) && isnan(value(&rows, 1, METRIC_train_loss, 2)));
    CHECK(isnan(result.values[metric_offset(METRIC_norm_growth, 2)]));
    corpus_release(&corpus);
}

TEST(train_fails_with_a_reason)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    struct result result;

    load(&corpus);
    measure_init(&measure);
    run.batch = 5000;
    train(&run, &corpus, &measure, NULL, &result);
    CHECK(result.outcome == OUTCOME_FAILED);
    CHECK_TEXT(result.reason, "the training text has fewer sequences than one batch");
    run.batch = 4;
    run.width = 1 << 21;
    train(&run, &corpus, &measure, NULL, &result);
    CHECK(result.outcome == OUTCOME_FAILED && strncmp(result.reason, "no memory: the run needs ", 25) == 0);
    corpus_release(&corpus);
}

TEST(train_hides_what_is_not_asked_for)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    static struct rows rows;
    struct observer observer = {&rows, keep_row, until, NULL};
    struct result result;

    load(&corpus);
    measure_init(&measure);
    measure.group[GROUP_NORMS] = false;
    train(&run, &corpus, &measure, &observer, &result);
    CHECK(isnan(value(&rows, 0, METRIC_param_norm, 2)) && isnan(value(&rows, 0, METRIC_tensor_norm, 2)));
    CHECK(isfinite(value(&rows, 0, METRIC_alignment, 2)) && isfinite(value(&rows, 0, METRIC_train_loss, 2)));
    CHECK(isfinite(result.values[metric_offset(METRIC_norm_growth, 2)]));
    CHECK(isnan(result.values[metric_offset(METRIC_growth_exponent, 2)]));
    corpus_release(&corpus);
}

/* A validation text without one whole window is none: the run goes on without it. */
TEST(train_without_validation)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    struct result result;

    load(&corpus);
    corpus.valid.token_count = 5;
    measure_init(&measure);
    train(&run, &corpus, &measure, NULL, &result);
    CHECK(result.outcome == OUTCOME_DONE && result.validated == 0);
    CHECK(isnan(result.values[metric_offset(METRIC_final_valid_loss, 2)]));
    corpus_release(&corpus);
}

TEST(train_stops_when_told)
{
    struct run run = small_run();
    struct corpus corpus;
    struct measure measure;
    struct result result;
    static struct rows rows = {.stop_at = 7};
    struct observer observer = {&rows, keep_row, until, NULL};

    load(&corpus);
    measure_init(&measure);
    train(&run, &corpus, &measure, &observer, &result);
    CHECK(result.outcome == OUTCOME_PENDING && result.last_step == 7);
    corpus_release(&corpus);
}

TEST(measure_rows_are_what_is_asked)
{
    int64_t steps[] = {3, 7, 50}, rows[16];
    struct measure measure;

    measure_init(&measure);
    measure.every = 4;
    CHECK(measure_rows(&measure, 10, rows) == 4 && rows[1] == 4 && rows[2] == 8 && rows[3] == 10);
    CHECK(measure_rows(&measure, 8, rows) == 3 && rows[2] == 8);
    CHECK(measure_rows(&measure, 0, rows) == 1);
    measure.every = 0;
    measure.steps = steps;
    measure.step_count = 3;
    measure.validate_every = 5;
    CHECK(measure_rows(&measure, 9, rows) == 5);
    CHECK(rows[0] == 0 && rows[1] == 3 && rows[2] == 5 && rows[3] == 7 && rows[4] == 9);
    CHECK(!measure_at(&measure, 5, 9) && validate_at(&measure, 5, 9) && measure_at(&measure, 7, 9));
}

TEST(metric_layout_has_no_holes)
{
    size_t row = 0, run = 0;

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t *end = metric_table[metric].shape == METRIC_PER_RUN ? &run : &row;
        CHECK(metric_offset(metric, 3) == *end);
        *end += metric_values(metric, 3);
    }
    CHECK(row == metric_row_size(3) && run == metric_run_size() && run <= RESULT_VALUES_MAX);
}
