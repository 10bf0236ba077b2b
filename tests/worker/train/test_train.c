/* One run from beginning to end. */
#include "tests/worker/small_run.h"

#include "model/core/denormals.h"
#include "model/kernels/pool.h"
#include "worker/train/train.h"

struct rows {
    int64_t count, steps[64];
    double values[64][1024];
    double of_run[1024];
    int64_t stop_at;
    void (*combine)(void *context, double *loss, scalar *gradient, int64_t size);
    int64_t combined; /* gradients that it has been given */
};

static void keep_row(void *context, int64_t step, const double *values, size_t count)
{
    struct rows *rows = context;

    CHECK(rows->count < 64 && count <= 1024);
    if (step == STEP_OF_RUN) {
        memcpy(rows->of_run, values, count * sizeof(*values));
        return;
    }
    int64_t row = 0;
    while (row < rows->count && rows->steps[row] != step) /* handed out again, it is complete */
        row++;
    memcpy(rows->values[row], values, count * sizeof(*values));
    rows->steps[row] = step;
    rows->count += row == rows->count;
}

static enum verdict until(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct rows *rows = context;

    CHECK(step <= last_step && (tokens > 0) == (step > 0));
    return !rows->stop_at || step < rows->stop_at ? VERDICT_CARRY_ON : VERDICT_STOP;
}

/* A small run, and all that training it needs and gives. */
struct trial {
    struct run run;
    struct corpus corpus;
    struct measure measure;
    struct arena arena;
    struct rows rows;
    struct unigram unigram;
    struct result result;
};

static void trial_init_of(struct trial *trial, int64_t tokens)
{
    *trial = (struct trial){0};
    trial->run = small_run(16, 12, 40);
    trial->run.batch = 4;
    small_corpus(&trial->run, 32, tokens, &trial->corpus);
    measure_init(&trial->measure);
}

static void trial_init(struct trial *trial)
{
    trial_init_of(trial, 5000);
}

/* Trains the run from its beginning; the rows of an earlier time are forgotten. */
static void trial_train(struct trial *trial)
{
    struct observer observer = {
        .context = &trial->rows, .row = keep_row, .carry_on = until, .combine = trial->rows.combine};

    trial->rows = (struct rows){.stop_at = trial->rows.stop_at, .combine = trial->rows.combine};
    train(&trial->run, &trial->corpus, &trial->measure, &observer, &trial->arena, &trial->result);
}

static void trial_release(struct trial *trial)
{
    measure_release(&trial->measure);
    arena_release(&trial->arena);
    corpus_release(&trial->corpus);
}

#define IN_TRIAL(id) TEST_IN(id, struct trial, trial, trial_init(trial), trial_release(trial))

static double value(const struct trial *trial, int64_t row, enum metric metric)
{
    const struct metric_form form = metric_form(&trial->run, &trial->measure);

    return trial->rows.values[row][form.offset[metric]];
}

static double outcome_value(const struct trial *trial, enum metric metric)
{
    return trial->rows.of_run[metric_form(&trial->run, &trial->measure).offset[metric]];
}

IN_TRIAL(train_measures_and_repeats)
{
    static struct trial again;

    trial->measure.every = 10;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_DONE && trial->result.last_step == 40 &&
          trial->result.diverged_step == -1);
    CHECK(trial->rows.count == 5 && trial->rows.steps[0] == 0 && trial->rows.steps[4] == 40);
    double first = value(trial, 0, METRIC_param_norm), last = value(trial, 4, METRIC_param_norm);
    CHECK_CLOSE(outcome_value(trial, METRIC_norm_growth), last / first, 1e-15);
    CHECK(isnan(value(trial, 0, METRIC_direction_cosine)));
    CHECK(isnan(value(trial, 4, METRIC_step_size)));
    CHECK(isfinite(value(trial, 4, METRIC_valid_loss)) && isnan(value(trial, 2, METRIC_valid_loss)));
    for (int64_t row = 0; row < 4; row++)
        CHECK_CLOSE(value(trial, row, METRIC_balance_error), 0, 1e-14);
    CHECK(value(trial, 4, METRIC_train_loss) < value(trial, 0, METRIC_train_loss));

    trial_init(&again);
    again.measure.every = 10;
    trial_train(&again);
    CHECK(memcmp(&trial->rows, &again.rows, sizeof(again.rows)) == 0);
    CHECK(memcmp(trial->rows.of_run, again.rows.of_run, sizeof(again.rows.of_run)) == 0);
    trial_release(&again);
}

/* A warm-up over 4 steps, then a constant rate; a linear fall from step 10 to a tenth at step 40. Rows with
 * the validation alone have the sum, too. */
IN_TRIAL(train_sums_rates)
{
    trial->measure.every = 8;
    trial->measure.validate_every = 5;
    trial->run.learning_rate = 0.01;
    trial->run.warmup_steps = 4;
    trial_train(trial);
    CHECK(trial->rows.count == 13 && trial->rows.steps[1] == 5);
    CHECK(value(trial, 0, METRIC_rate_sum) == 0);
    for (int64_t row = 1; row < trial->rows.count; row++)
        CHECK_CLOSE(value(trial, row, METRIC_rate_sum), 0.01 * ((double)trial->rows.steps[row] - 1.5), 1e-14);

    trial->run.schedule = SCHEDULE_LINEAR;
    trial->run.schedule_start = 10;
    trial->run.warmup_steps = 0;
    trial_train(trial);
    for (int64_t row = 0; row < trial->rows.count; row++) {
        double step = (double)trial->rows.steps[row], beyond = step > 10 ? step - 10 : 0;
        CHECK_CLOSE(value(trial, row, METRIC_rate_sum),
            0.01 * (step - 0.9 * beyond * (beyond + 1) / (2 * 30)), 1e-14);
    }
}

/* Doubles the gradient, and halves the loss, to be seen in the rows. */
static void double_gradient(void *context, double *loss, scalar *gradient, int64_t size)
{
    struct rows *rows = context;

    for (int64_t i = 0; gradient && i < size; i++)
        gradient[i] *= 2;
    *loss /= 2;
    rows->combined += gradient != NULL;
}

/* Twice the gradient is twice the rate of plain sgd, exactly: a factor of 2 rounds nothing. */
TEST(train_steps_with_the_combined_gradient)
{
    static struct trial twice, fast;

    trial_init(&twice);
    twice.measure.every = 10;
    twice.run.optimiser = OPTIMISER_SGD;
    twice.run.momentum = twice.run.weight_decay = 0;
    twice.run.learning_rate = 0.0625;
    trial_init(&fast);
    fast.measure.every = 10;
    fast.run = twice.run;
    fast.run.learning_rate = 0.125;
    trial_train(&fast);
    twice.rows.combine = double_gradient;
    trial_train(&twice);
    CHECK(twice.rows.combined == 40 && twice.rows.count == fast.rows.count);
    for (int64_t row = 0; row < fast.rows.count; row++) {
        CHECK(value(&twice, row, METRIC_param_norm) == value(&fast, row, METRIC_param_norm));
        CHECK(value(&twice, row, METRIC_train_loss) == value(&fast, row, METRIC_train_loss) / 2);
        CHECK(row == 4 || value(&twice, row, METRIC_grad_norm) == 2 * value(&fast, row, METRIC_grad_norm));
    }
    trial_release(&fast);
    trial_release(&twice);
}

/* What a trial measured of a metric at each row, bit for bit. */
static bool is_same(const struct trial *a, const struct trial *b, enum metric metric)
{
    const struct metric_form own = metric_form(&a->run, &a->measure),
                             other = metric_form(&b->run, &b->measure);
    size_t size = metric_values(metric, &own) * sizeof(double);
    bool same = a->rows.count == b->rows.count && metric_values(metric, &other) * sizeof(double) == size;

    for (int64_t row = 0; same && row < a->rows.count; row++)
        same = memcmp(a->rows.values[row] + own.offset[metric], b->rows.values[row] + other.offset[metric],
                   size) == 0;
    return same;
}

/* The groups attention and sharpness change nothing else, and do not depend on the number of threads;
 * attention has the same values from passes of a validation and from its own. */
IN_TRIAL(train_looks_on)
{
    static struct trial again;

    trial->measure.every = 10;
    trial->measure.validate_every = 10;
    trial->measure.group[GROUP_ATTENTION] = trial->measure.group[GROUP_SHARPNESS] = true;
    trial_train(trial);
    CHECK(trial->result.attended == 5 && trial->result.sharpened == 4);
    for (int other = 0; other < 4; other++) {
        trial_init(&again);
        again.measure.every = 10;
        again.measure.validate_every = other == 1 ? VALIDATE_END : 10;
        again.measure.group[GROUP_ATTENTION] = again.measure.group[GROUP_SHARPNESS] = other > 0;
        again.run.threads = other > 1 ? other : 1;
        trial_train(&again);
        for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
            enum metric_group group = metric_table[metric].group;
            bool hidden = group == GROUP_ATTENTION || group == GROUP_SHARPNESS;
            if (!metric_is_of_run(metric) && trial->measure.group[group] && !(hidden && other == 0) &&
                !(other == 1 && group == GROUP_ALWAYS) && !is_same(trial, &again, metric))
                test_fail(__FILE__, __LINE__, "%s differs, case %d", metric_table[metric].name, other);
        }
        trial_release(&again);
    }
    for (int64_t row = 0; row < 5; row++) {
        CHECK(isfinite(value(trial, row, METRIC_sink_share)) &&
              isfinite(value(trial, row, METRIC_activation_max)));
        CHECK(isfinite(value(trial, row, METRIC_critical_sharpness)) == (row < 4));
    }
}

/* Queries and keys that start at 0 have no gradient: every token of a window of 12 sees all before it alike.
 */
IN_TRIAL(train_attends_equally)
{
    double entropy = 0, first = 0;

    for (int t = 1; t < 12; t++) {
        entropy += log(t + 1.0) / 11;
        first += 1 / (t + 1.0) / 11;
    }
    trial->run.zero_query_key = 1;
    trial->measure.group[GROUP_ATTENTION] = true;
    trial_train(trial);
    CHECK(trial->rows.count == 2);
    for (int64_t row = 0; row < 2; row++) {
        CHECK(value(trial, row, METRIC_max_logit) == 0 && value(trial, row, METRIC_sink_share) == 0);
        CHECK_CLOSE(value(trial, row, METRIC_attention_entropy), entropy, 1e-13);
        CHECK_CLOSE(value(trial, row, METRIC_first_attention), first, 1e-13);
    }
}

/* |theta_(t+1)|^2 - |theta_t|^2 is what the measured step says, at rounding level whatever took the step; and
 * the steps of the layers make up the whole one. */
static void check_balance(const struct trial *trial)
{
    const struct metric_form form = metric_form(&trial->run, &trial->measure);
    int64_t layers = trial->run.layers, last = trial->rows.count - 1;

    for (int64_t row = 0; row < last; row++) {
        const double *values = trial->rows.values[row];
        const double *norm = values + form.offset[METRIC_layer_norm];
        const double *size = values + form.offset[METRIC_layer_step_size];
        const double *alignment = values + form.offset[METRIC_layer_alignment];
        double square = 0, product = 0, step = value(trial, row, METRIC_step_size);
        for (int64_t layer = 0; layer < layers; layer++) {
            square += size[layer] * size[layer];
            product += norm[layer] * size[layer] * alignment[layer];
        }
        CHECK(step > 0);
        CHECK_CLOSE(value(trial, row, METRIC_balance_error), 0, 1e-14);
        CHECK_CLOSE(sqrt(square) / step, 1, 1e-14);
        CHECK_CLOSE(product / (value(trial, row, METRIC_param_norm) * step),
            value(trial, row, METRIC_alignment), 1e-14);
    }
    CHECK(last > 0 && isnan(value(trial, last, METRIC_layer_step_size)));
}

TEST(train_steps_balance)
{
    static struct trial trial;

    for (int optimiser = OPTIMISER_ADAMW; optimiser <= OPTIMISER_ADAFACTOR; optimiser++)
        for (int decay = DECAY_FUSED; decay <= DECAY_FACTOR; decay++) {
            trial_init(&trial);
            trial.measure.every = 10;
            trial.run.optimiser = optimiser;
            trial.run.decay = decay;
            trial_train(&trial);
            CHECK(trial.result.outcome == OUTCOME_DONE);
            check_balance(&trial);
            trial_release(&trial);
        }
}

IN_TRIAL(train_divergence_is_a_result)
{
    trial->run.optimiser = OPTIMISER_SGD;
    trial->run.learning_rate = 1e30;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_DIVERGED);
    CHECK(trial->result.diverged_step > 0 && trial->result.diverged_step < 5);
    CHECK(trial->result.last_step == trial->result.diverged_step);
}

/* Weights that square to infinity are seen by their norm, before any loss. The loss on the validation text
 * then says nothing, as when it is not asked for. */
IN_TRIAL(train_diverges_by_the_norm)
{
    trial->run.learning_rate = 1e200;
    trial->measure.every = 1;
    for (int validates = 0; validates < 2; validates++) {
        trial_train(trial);
        CHECK(trial->result.outcome == OUTCOME_DIVERGED && trial->result.diverged_step == 1);
        CHECK(trial->rows.count == 2 && trial->rows.steps[1] == 1);
        CHECK(!isfinite(value(trial, 1, METRIC_total_norm)) && isnan(value(trial, 1, METRIC_train_loss)));
        CHECK(isnan(outcome_value(trial, METRIC_norm_growth)));
        CHECK(!validates || isfinite(value(trial, 0, METRIC_valid_loss)));
        CHECK(isnan(value(trial, 1, METRIC_valid_loss)));
        trial->measure.validate_every = 1;
    }
}

IN_TRIAL(train_fails_with_a_reason)
{
    trial->run.batch = 5000;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_FAILED);
    CHECK_TEXT(trial->result.reason, "the training text has fewer sequences than one batch");
    trial->run.batch = 4;
    trial->run.width = 1 << 21;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_FAILED);
    CHECK(strncmp(trial->result.reason, "no memory: the run needs ", 25) == 0);
}

IN_TRIAL(train_hides_what_is_not_asked_for)
{
    trial->measure.group[GROUP_NORMS] = false;
    trial_train(trial);
    CHECK(isnan(value(trial, 0, METRIC_param_norm)) && isnan(value(trial, 0, METRIC_tensor_norm)));
    CHECK(isfinite(value(trial, 0, METRIC_alignment)) && isfinite(value(trial, 0, METRIC_train_loss)));
    CHECK(isfinite(outcome_value(trial, METRIC_norm_growth)));
    CHECK(isnan(outcome_value(trial, METRIC_growth_exponent)));
}

/* A validation text without one whole window is none: the run goes on without it. */
IN_TRIAL(train_without_validation)
{
    trial->corpus.valid.token_count = 5;
    trial->measure.group[GROUP_ATTENTION] = true;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_DONE && trial->result.validated == 0);
    CHECK(isnan(outcome_value(trial, METRIC_final_valid_loss)));
    CHECK(isnan(value(trial, 0, METRIC_sink_share)) && trial->result.attended == 0);
}

IN_TRIAL(train_stops_when_told)
{
    trial->rows.stop_at = 7;
    trial_train(trial);
    CHECK(trial->result.outcome == OUTCOME_PENDING && trial->result.last_step == 7);
}

/* Nobody has to look on. */
IN_TRIAL(train_without_an_observer)
{
    train(&trial->run, &trial->corpus, &trial->measure, NULL, &trial->arena, &trial->result);
    CHECK(trial->result.outcome == OUTCOME_DONE && trial->result.last_step == 40);
}

/* ---- what earlier runs leave in a process, memory and counts of the texts, changes nothing of the next ----
 */

enum { VALUES_MOST = 1 << 16 };

/* All values of a run, in the order in which they come. */
struct values {
    size_t count;
    double value[VALUES_MOST];
};

static void keep_values(void *context, int64_t step, const double *values, size_t count)
{
    struct values *kept = context;
    bool room = count < VALUES_MOST - kept->count;

    CHECK(room);
    if (!room)
        return;
    kept->value[kept->count++] = (double)step;
    memcpy(kept->value + kept->count, values, count * sizeof(*values));
    kept->count += count;
}

/* All groups are measured if `all`. The values of the run are kept. */
static void train_run(struct trial *process, const struct run *run, bool all, struct values *values)
{
    struct observer observer = {.context = values, .row = keep_values, .unigram = &process->unigram};
    struct measure measure;
    struct result result;

    measure_init(&measure);
    measure.hessian_probes = 1;
    measure.hessian_steps = 3;
    measure.lyapunov_exponents = 2;
    measure.lyapunov_sweeps = 1;
    for (int group = 0; group < GROUP_COUNT; group++)
        measure.group[group] = measure.group[group] || (all && group != GROUP_HOMOGENEITY);
    values->count = 0;
    train(run, &process->corpus, &measure, &observer, &process->arena, &result);
    CHECK(result.outcome == OUTCOME_DONE && values->count > 0);
    measure_release(&measure);
}

static void check_same(const struct values *a, const struct values *b)
{
    CHECK(a->count == b->count && memcmp(a->value, b->value, a->count * sizeof(*a->value)) == 0);
}

/* Trains the run in fresh memory, and again with NaN wherever memory need not be zero. */
static void check_run(const struct run *run, bool all)
{
    static struct values fresh, used;
    static struct trial process;

    trial_init_of(&process, 3000);
    train_run(&process, run, all, &fresh);
    const struct arena *arena = &process.arena;
    CHECK(arena->base && arena->soiled > 0);
    if (arena->base)
        memset(arena->base + arena->size - arena->soiled, 0xff, arena->soiled);
    train_run(&process, run, all, &used);
    check_same(&fresh, &used);
    trial_release(&process);
}

static struct run short_run(void)
{
    struct run run = small_run(16, 12, 4);

    run.vocabulary = 32;
    run.batch = 4;
    return run;
}

TEST(used_memory_of_optimisers)
{
    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        struct run run = short_run();
        run.optimiser = kind;
        check_run(&run, false);
    }
}

TEST(used_memory_of_networks)
{
    for (int number = 0; number < 12; number++) {
        struct run run = short_run();
        run.norm_placement = number % 3;
        run.norm = number % 2;
        run.qk_norm = number % 4 == 1;
        run.gated = number % 5 == 2;
        run.kv_heads = number % 4 == 2 ? 1 : 0;
        run.attention_mask = number % 2 ? MASK_CAUSAL : MASK_MULTIPLICATIVE;
        run.positions = number % 3 == 0   ? POSITIONS_LEARNED
                        : number % 3 == 1 ? POSITIONS_ROTARY
                                          : POSITIONS_RELATIVE;
        run.threads = 1 + number % 2;
        check_run(&run, true);
    }
}

/* Runs that read their texts in different ways have different unigram losses, whatever was counted before. */
TEST(unigram_loss_of_earlier_runs)
{
    static const int64_t contexts[] = {11, 7, 11, 11, 5};
    static struct values alone, after;
    static struct trial process, other;

    trial_init_of(&process, 3000);
    for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
        struct run run = short_run();
        run.context = contexts[i];
        run.seed = (int64_t)i;
        trial_init_of(&other, 3000);
        train_run(&other, &run, false, &alone);
        trial_release(&other);
        train_run(&process, &run, false, &after);
        check_same(&alone, &after);
    }
    trial_release(&process);
}

TEST(unigram_loss_is_of_its_texts)
{
    static struct trial process, other;
    struct reading reading = {.sequences = SEQUENCES_STREAM, .context = 11, .vocabulary = 32};

    trial_init_of(&process, 3000);
    trial_init_of(&other, 3001);
    struct unigram unigram = {true, process.corpus.digest, reading, 100, 1.5};
    CHECK(unigram_is_of(&unigram, &process.corpus, &reading, 100));
    CHECK(!unigram_is_of(&unigram, &other.corpus, &reading, 100));
    CHECK(!unigram_is_of(&unigram, &process.corpus, &reading, 101));
    reading.seed = 5; /* has no effect */
    CHECK(unigram_is_of(&unigram, &process.corpus, &reading, 100));
    reading.task = TASK_LAST;
    CHECK(!unigram_is_of(&unigram, &process.corpus, &reading, 100));
    unigram.known = false;
    CHECK(!unigram_is_of(&unigram, &process.corpus, &unigram.reading, 100));
    trial_release(&process);
    trial_release(&other);
}

/* ---- weights that decay below the smallest normal number ---- */

enum { THREADS = 3, SHARES = 64, MOST_WEIGHTS = 20000 };

struct vanishing {
    struct trial trial;
    int64_t calls, denormal_products;
    scalar weights[MOST_WEIGHTS];
    int64_t size;
};

static bool product_is_denormal(void)
{
    volatile double small = 1e-200, smaller = 1e-120;

    return small * smaller > 0;
}

static void product_share(const void *denormal, int64_t share)
{
    ((bool *)denormal)[share] = product_is_denormal();
}

/* By the threads that a run has. */
static int64_t count_denormal_products(void)
{
    bool denormal[SHARES] = {false};
    int64_t count = product_is_denormal();

    pool_run(THREADS, SHARES, product_share, denormal);
    for (int i = 0; i < SHARES; i++)
        count += denormal[i];
    return count;
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct vanishing *vanishing = context;

    (void)step, (void)last_step, (void)tokens;
    vanishing->calls++;
    vanishing->denormal_products += count_denormal_products();
    return VERDICT_CARRY_ON;
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct vanishing *vanishing = context;

    vanishing->size = snapshot->model->layout.size;
    CHECK(vanishing->size <= MOST_WEIGHTS);
    memcpy(vanishing->weights, snapshot->weights, (size_t)vanishing->size * sizeof(scalar));
}

static int64_t count_weights(const struct vanishing *v, int class)
{
    int64_t count = 0;

    for (int64_t i = 0; i < v->size; i++)
        count += fpclassify(v->weights[i]) == class;
    return count;
}

static void check_vanishing(void)
{
    static struct vanishing v;
    const struct observer observer = {.context = &v, .carry_on = on_step, .finish = on_finish};
    struct run *run = &v.trial.run;

    v = (struct vanishing){0};
    trial_init(&v.trial);
    run->steps = 100;
    run->threads = THREADS;
    run->optimiser = OPTIMISER_SGD;
    run->learning_rate = 0.1;
    run->weight_decay = 9.999; /* each step takes nearly all of a weight */
    train(run, &v.trial.corpus, &v.trial.measure, &observer, &v.trial.arena, &v.trial.result);
    CHECK(v.trial.result.outcome == OUTCOME_DONE && v.calls > 100 && v.size > 0);
    CHECK(v.denormal_products == 0);
    CHECK(count_weights(&v, FP_SUBNORMAL) == 0 && count_weights(&v, FP_ZERO) > v.size / 2);
    trial_release(&v.trial);
}

/* Denormals are zero while a run trains, and only then, also of a caller that had them flushed before. */
TEST(train_flushes_denormals)
{
    if (denormals_why_not()) {
        test_skip("this processor cannot flush denormals, so their being zero in training is not checked");
        return;
    }
    check_vanishing();
    CHECK(!denormals_flushed() && count_denormal_products() == 1 + SHARES);
    denormals_flush(true);
    check_vanishing();
    CHECK(denormals_flushed() && count_denormal_products() == 0);
    denormals_flush(false);
}

/* ---- rows and metrics ---- */

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

TEST(measure_rows_are_counted_as_they_are_listed)
{
    int64_t steps[] = {0, 3, 4, 7, 12, 50}, rows[128];
    struct measure measure;

    measure_init(&measure);
    measure.steps = steps;
    for (measure.step_count = 0; measure.step_count <= 6; measure.step_count += 3)
        for (measure.every = measure.step_count ? 0 : 1; measure.every < 8; measure.every++)
            for (measure.validate_every = 0; measure.validate_every < 10; measure.validate_every++)
                for (int64_t last = 0; last < 60; last++) {
                    int64_t count = measure_rows(&measure, last, rows);
                    CHECK(count <= last + 1 && measure_rows(&measure, last, NULL) == count);
                }
    measure.step_count = 0;
    measure.every = INT64_MAX;
    measure.validate_every = INT64_MAX - 1;
    CHECK(measure_rows(&measure, INT64_MAX, NULL) == 3);
}

TEST(measure_validations_are_counted_as_they_come)
{
    struct measure measure;

    measure_init(&measure);
    for (measure.validate_every = VALIDATE_END; measure.validate_every < 10; measure.validate_every++)
        for (int64_t last = 0; last < 40; last++) {
            int64_t count = 0;
            for (int64_t step = 0; step <= last; step++)
                count += validate_at(&measure, step, last);
            CHECK(measure_validations(&measure, last) == count);
        }
}

/* Of groups that are measured at some of the measured steps alone. */
TEST(measure_spectra_are_counted_as_they_come)
{
    int64_t steps[] = {0, 3, 4, 8, 12, 50};
    struct run run = {.width = SPECTRA_WIDTH};
    struct measure measure;

    measure_init(&measure);
    measure.steps = steps;
    CHECK(measure_spectra(&measure, &run, 9) == 0 && !spectra_at(&measure, &run, 0, 9));
    measure.group[GROUP_SPECTRA] = measure.group[GROUP_HESSIAN] = true;
    for (measure.every = 0; measure.every < 4; measure.every++)
        for (measure.spectra_every = EVERY_AUTO; measure.spectra_every < 5; measure.spectra_every++)
            for (int64_t last = 0; last < 60; last++) {
                int64_t count = 0, hessians = 0;
                measure.step_count = measure.every ? 0 : 6;
                measure.hessian_every = measure.spectra_every == EVERY_AUTO ? 1 : measure.spectra_every;
                for (int64_t step = 0; step <= last; step++) {
                    count += measure_at(&measure, step, last) && spectra_at(&measure, &run, step, last);
                    hessians += measure_at(&measure, step, last) && hessian_at(&measure, step, last);
                }
                CHECK(measure_spectra(&measure, &run, last) == count && count == hessians);
            }
    measure.spectra_every = EVERY_AUTO;
    CHECK(measure_spectra(&measure, &run, 50) == measure_count(&measure, 50));
    run.width = SPECTRA_WIDTH + 1;
    CHECK(measure_spectra(&measure, &run, 50) == 2 && spectra_at(&measure, &run, 50, 50));
    CHECK(!spectra_at(&measure, &run, 4, 50) && spectra_at(&measure, &run, 0, 50));
}

TEST(metric_layout_has_no_holes)
{
    struct measure all;
    struct run shape;
    size_t row = 0, run = 0;

    measure_init(&all);
    for (int group = 0; group < GROUP_COUNT; group++)
        all.group[group] = true;
    run_init(&shape);
    struct metric_form form = metric_form(&shape, &all);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        size_t *end = metric_is_of_run(metric) ? &run : &row;
        CHECK(form.offset[metric] == *end);
        *end += metric_values(metric, &form);
    }
    CHECK(row == metric_row_size(&form, 0) && run == metric_row_size(&form, STEP_OF_RUN));
}
