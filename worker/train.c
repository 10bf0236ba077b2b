#include "worker/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/batches.h"
#include "model/instruments.h"
#include "model/limits.h"
#include "worker/clock.h"

/* All that a run works with, laid out in one arena. */
struct trainer {
    const struct run *run;
    const struct corpus *corpus;
    const struct measure *measure;
    const struct observer *observer;
    struct result *result;
    int64_t last_step;
    bool can_validate; /* the validation text has a sequence at all */

    struct transformer model;
    struct optimiser optimiser;
    struct schedule schedule;
    struct batches batches;
    struct batch batch;
    struct instruments instruments;
    scalar *weights, *gradient; /* planes */
    double *row; /* [metric_row_size(layers)] */
    int64_t *kept_step; /* the measured steps and their norms so far, for the fits */
    double *kept_norm, *fit_scratch;
    int64_t kept_count;
};

/* Lines rarely fill their context: the rows of the largest batch that can come, and of any sequence of
 * validation, which fills them with what fits. */
static int64_t most_rows(const struct run *run, const struct corpus *corpus)
{
    enum sequences sequences = (enum sequences)run->sequences;
    int64_t train = text_rows(&corpus->train, sequences, run->context, run->batch);
    int64_t valid = text_rows(&corpus->valid, sequences, run->context, 1);

    return train > valid ? train : valid;
}

static void trainer_layout(struct trainer *t, struct arena *arena)
{
    const struct run *run = t->run;
    struct architecture architecture = run_architecture(run, t->corpus->vocabulary);
    struct optimiser_options options = run_optimiser(run);
    size_t rows = (size_t)measure_rows(t->measure, t->last_step, NULL);

    transformer_layout(&t->model, &architecture, most_rows(run, t->corpus), run->threads, arena);
    optimiser_layout(&t->optimiser, &options, &t->model.layout, run->threads, arena);
    batches_layout(&t->batches, &t->corpus->train, (enum sequences)run->sequences, run->context, run->batch,
        run->seed, arena);
    batch_layout(&t->batch, t->model.max_rows, arena);
    instruments_layout(&t->instruments, &t->model.layout, run->layers, arena);
    t->weights = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    t->gradient = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    t->row = arena_take(arena, metric_row_size(run->layers), sizeof(double));
    t->kept_step = arena_take(arena, rows, sizeof(int64_t));
    t->kept_norm = arena_take(arena, rows, sizeof(double));
    t->fit_scratch = arena_take(arena, 2 * rows, sizeof(double));
}

size_t train_memory(const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    struct trainer trainer = {.run = run, .corpus = corpus, .measure = measure};
    struct arena arena = {0};

    trainer.last_step = run_last_step(run, corpus);
    trainer_layout(&trainer, &arena);
    return arena.used;
}

/*
 * What takes its time beside the matrix products, each in products' floating-point operations that take as
 * long: rough, from step times of shapes between width 16 and 192. They need not be exact: with costs wrong
 * by a factor of 1.35 a makespan is 0.4 % above the least possible (test_coordinator.c). Only their ratios
 * count.
 */
enum {
    COST_TOKEN = 40, /* a token's loss, for each word of the vocabulary */
    COST_WIDTH = 240, /* a token in a layer, for each element of the width: norms, biases, sums */
    COST_ATTENTION = 300, /* a token in a head, for each position it may see */
    COST_GELU = 80, /* a token in a layer, for each element of the feed-forward width */
    COST_UPDATE = 30, /* a parameter in a step of the optimiser */
    COST_MEASURE = 60, /* a parameter in a measured step */
    COST_INIT = 2000, /* a parameter's first value */
};

/* A token's way through the model's matrix products, forward and backward; the causal half of attention's. */
static double token_arithmetic(const struct run *run, int64_t vocabulary)
{
    double width = (double)run->width, layers = (double)run->layers, feedforward = (double)run->feedforward;
    double block = 4 * width * width + 2 * width * feedforward;

    return 6 * (layers * block + (double)vocabulary * width) + 6 * layers * (double)run->context * width;
}

double train_step_arithmetic(const struct run *run, int64_t vocabulary)
{
    return token_arithmetic(run, vocabulary) * (double)run->batch * (double)run->context;
}

/* The same with what lies beside the products. */
static double token_cost(const struct run *run, int64_t vocabulary)
{
    double gelu = run->activation == ACTIVATION_GELU ? COST_GELU * (double)run->feedforward : 0;
    double attention = COST_ATTENTION * (double)run->heads * (double)run->context;
    double beside = COST_WIDTH * (double)run->width + attention + gelu;

    return token_arithmetic(run, vocabulary) + (double)run->layers * beside + COST_TOKEN * (double)vocabulary;
}

static double parameters(const struct run *run, int64_t vocabulary)
{
    struct architecture architecture = run_architecture(run, vocabulary);

    return (double)architecture_parameters(&architecture);
}

double train_step_cost(const struct run *run, int64_t vocabulary)
{
    return token_cost(run, vocabulary) * (double)run->batch * (double)run->context +
           COST_UPDATE * parameters(run, vocabulary);
}

/* Tokens of all validations of a run. */
static double validated_tokens(const struct corpus *corpus, const struct measure *measure, int64_t last_step)
{
    int64_t all = corpus->valid.token_count, once = measure->validate_tokens;
    int64_t times = measure->validate_every == VALIDATE_END ? 1 : last_step / measure->validate_every + 1;

    return (double)times * (double)(once < all ? once : all);
}

double train_cost(const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    int64_t last_step = run_last_step(run, corpus);
    double forward = token_cost(run, corpus->vocabulary) / 3;
    double rows = (double)measure_rows(measure, last_step, NULL);

    return train_step_cost(run, corpus->vocabulary) * (double)last_step +
           forward * validated_tokens(corpus, measure, last_step) +
           parameters(run, corpus->vocabulary) * (COST_INIT + COST_MEASURE * rows);
}

/* Where a metric's values lie in the row. */
static double *in_row(const struct trainer *t, enum metric metric)
{
    return t->row + metric_offset(metric, t->run->layers);
}

#define ROW(t, name) (*in_row(t, METRIC_##name))
#define VALUE(t, name) ((t)->result->values[metric_offset(METRIC_##name, (t)->run->layers)])

/* Measures whose group is switched off are not shown. */
static void hide_unwanted(const struct trainer *t)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (metric_table[metric].shape == METRIC_PER_RUN || t->measure->group[metric_table[metric].group])
            continue;
        double *hidden = in_row(t, metric);
        for (size_t i = 0; i < metric_values(metric, t->run->layers); i++)
            hidden[i] = NAN;
    }
}

static void clear_row(const struct trainer *t)
{
    for (size_t i = 0; i < metric_row_size(t->run->layers); i++)
        t->row[i] = NAN;
}

static void emit_row(const struct trainer *t, int64_t step)
{
    hide_unwanted(t);
    if (t->observer && t->observer->row)
        t->observer->row(t->observer->context, step, t->row, metric_row_size(t->run->layers));
}

/* Every sequence of the validation text counts once, however they are packed. NaN without such a text. */
static double validation_loss(struct trainer *t)
{
    struct validation validation;
    double sum = 0;
    int64_t count = 0, taken;
    double begin = clock_now();

    validation_init(&validation, &t->corpus->valid, (enum sequences)t->run->sequences, t->run->context,
        t->measure->validate_tokens);
    while ((taken = validation_next(&validation, t->model.max_rows, &t->batch)) > 0) {
        sum += (double)taken * transformer_loss(&t->model, t->weights, &t->batch, NULL);
        count += taken;
    }
    t->result->validate_seconds += clock_now() - begin;
    t->result->validated++;
    return count ? sum / (double)count : NAN;
}

static void put_state(struct trainer *t, int64_t step)
{
    struct state_measures state;

    measure_state(&t->instruments, t->weights, &state, in_row(t, METRIC_layer_norm),
        in_row(t, METRIC_layer_direction_cosine), in_row(t, METRIC_tensor_norm));
    ROW(t, param_norm) = state.param_norm;
    ROW(t, embedding_norm) = state.embedding_norm;
    ROW(t, output_norm) = state.output_norm;
    ROW(t, total_norm) = state.total_norm;
    ROW(t, direction_cosine) = state.direction_cosine;
    t->kept_step[t->kept_count] = step;
    t->kept_norm[t->kept_count++] = state.param_norm;
}

static void put_step(const struct trainer *t, const struct step_measures *measures)
{
    ROW(t, grad_norm) = measures->grad_norm;
    ROW(t, gradient_alignment) = measures->gradient_alignment;
    ROW(t, update_norm) = measures->update_norm;
    ROW(t, update_alignment) = measures->update_alignment;
    ROW(t, step_size) = measures->step_size;
    ROW(t, alignment) = measures->alignment;
    ROW(t, balance_error) = measures->balance_error;
}

/* One optimiser step from theta_t to theta_(t+1), measured if asked. False: the loss is not finite, no step
 * was taken. */
static bool take_step(struct trainer *t, int64_t step, bool measured)
{
    struct step_measures measures;
    double begin = clock_now(), measuring = 0;
    bool wanted = measured && t->measure->group[GROUP_ALIGNMENT];

    batches_fill(&t->batches, step + 1, &t->batch);
    double loss = transformer_gradient(&t->model, t->weights, &t->batch, t->gradient);
    if (measured)
        ROW(t, train_loss) = loss;
    if (!isfinite(loss))
        return false;
    double clip = optimiser_clip(&t->optimiser, t->gradient), pause = clock_now();
    if (wanted)
        measure_gradient(&t->instruments, &t->optimiser, t->weights, t->gradient, clip, step + 1, &measures);
    measuring += clock_now() - pause;
    optimiser_step(
        &t->optimiser, t->weights, t->gradient, clip, step + 1, schedule_rate(&t->schedule, step + 1));
    pause = clock_now();
    if (wanted) {
        measure_step(&t->instruments, t->weights, &measures);
        put_step(t, &measures);
    }
    measuring += clock_now() - pause;
    t->result->tokens += t->batch.rows;
    t->result->measure_seconds += measuring;
    t->result->step_seconds += clock_now() - begin - measuring;
    return true;
}

/* The measures of theta_t itself. False: one of them is not finite. */
static bool look(struct trainer *t, int64_t step, bool measured, bool validated)
{
    bool finite = true;

    clear_row(t);
    if (measured) {
        double begin = clock_now();
        put_state(t, step);
        finite = isfinite(ROW(t, total_norm));
        t->result->measure_seconds += clock_now() - begin;
        t->result->measured++;
    }
    if (finite && validated) {
        ROW(t, valid_loss) = validation_loss(t);
        finite = isfinite(ROW(t, valid_loss));
    }
    return finite;
}

/* At the last step there is no further one to take its loss from: theta_end on the batch that would come
 * next. */
static bool last_loss(struct trainer *t)
{
    batches_fill(&t->batches, t->last_step + 1, &t->batch);
    ROW(t, train_loss) = transformer_loss(&t->model, t->weights, &t->batch, NULL);
    return isfinite(ROW(t, train_loss));
}

static bool carry_on(const struct trainer *t, int64_t step)
{
    const struct observer *observer = t->observer;

    return !observer || !observer->carry_on ||
           observer->carry_on(observer->context, step, t->last_step, t->result->tokens);
}

/* From theta_t through everything that belongs to step t. Sets the outcome when the run ends here. */
static void advance(struct trainer *t, int64_t step)
{
    bool measured = measure_at(t->measure, step, t->last_step);
    bool validated = t->can_validate && validate_at(t->measure, step, t->last_step);
    bool row = measured || validated, last = step == t->last_step;
    bool finite = row ? look(t, step, measured, validated) : true;

    if (finite)
        finite = last ? last_loss(t) : take_step(t, step, measured);
    if (row)
        emit_row(t, step);
    t->result->last_step = step + (finite && !last);
    if (!finite) {
        t->result->outcome = OUTCOME_DIVERGED;
        t->result->diverged_step = step;
    } else if (last) {
        t->result->outcome = OUTCOME_DONE;
    }
}

static void put_growth(struct trainer *t)
{
    struct growth growth;

    VALUE(t, final_train_loss) = ROW(t, train_loss);
    VALUE(t, final_valid_loss) = ROW(t, valid_loss);
    VALUE(t, norm_growth) = t->kept_norm[t->kept_count - 1] / t->kept_norm[0];
    if (!t->measure->group[GROUP_NORMS])
        return;
    growth_fit(t->kept_step, t->kept_norm, t->kept_count, t->fit_scratch, &growth);
    VALUE(t, growth_exponent) = growth.exponent;
    VALUE(t, growth_exponent_error) = growth.exponent_error;
    VALUE(t, growth_exponent_r2) = growth.exponent_r2;
    VALUE(t, fit_sqrt_r2) = growth.sqrt_r2;
    VALUE(t, fit_linear_r2) = growth.linear_r2;
    VALUE(t, fit_fourth_root_r2) = growth.fourth_root_r2;
    VALUE(t, fit_exponential_r2) = growth.exponential_r2;
}

static void result_init(struct result *result)
{
    *result = (struct result){.outcome = OUTCOME_RUNNING, .diverged_step = -1};
    for (int i = 0; i < RESULT_VALUES_MAX; i++)
        result->values[i] = NAN;
}

/* The arena of a run that can be trained; -1 and a reason for one that cannot. */
static int prepare(struct trainer *t, struct arena *arena)
{
    const struct run *run = t->run;
    enum sequences sequences = (enum sequences)run->sequences;
    struct result *result = t->result;

    t->last_step = run_last_step(run, t->corpus);
    t->can_validate = text_sequences(&t->corpus->valid, sequences, run->context) > 0;
    t->schedule = run_schedule(run, t->last_step);
    result->outcome = OUTCOME_FAILED;
    if (text_sequences(&t->corpus->train, sequences, run->context) < run->batch || t->last_step < 1) {
        snprintf(
            result->reason, sizeof(result->reason), "the training text has fewer sequences than one batch");
        return -1;
    }
    size_t memory = train_memory(run, t->corpus, t->measure);
    if (memory > limits()->memory || arena_renew(arena, memory) != 0) {
        snprintf(result->reason, sizeof(result->reason),
            "no memory: the run needs %.1f MiB, and this process may have %.1f MiB", (double)memory / 0x1p20,
            (double)limits()->memory / 0x1p20);
        return -1;
    }
    result->outcome = OUTCOME_RUNNING;
    return 0;
}

void train(const struct run *run, const struct corpus *corpus, const struct measure *measure,
    const struct observer *observer, struct arena *arena, struct result *result)
{
    struct trainer t = {
        .run = run, .corpus = corpus, .measure = measure, .observer = observer, .result = result};
    double begin = clock_now();

    result_init(result);
    if (prepare(&t, arena) != 0)
        return;
    trainer_layout(&t, arena);
    weights_init(t.weights, &t.model.layout, &t.model.architecture, run->seed);
    for (int64_t step = 0; result->outcome == OUTCOME_RUNNING; step++) {
        if (step > 0 && !carry_on(&t, step))
            result->outcome = OUTCOME_PENDING;
        else
            advance(&t, step);
    }
    if (result->outcome == OUTCOME_DONE) {
        put_growth(&t);
        if (observer && observer->finish)
            observer->finish(observer->context, &t.model, t.weights);
    }
    result->seconds = clock_now() - begin;
    arena_rest(arena);
}
