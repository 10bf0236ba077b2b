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
    struct history history;
    scalar *weights, *gradient; /* planes */
    double *row; /* in the history: the one to come, and the last once that is complete */
    double begin; /* clock, less the seconds of earlier lives */
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

    transformer_layout(&t->model, &architecture, most_rows(run, t->corpus), run->threads, arena);
    optimiser_layout(&t->optimiser, &options, &t->model.layout, run->threads, arena);
    batches_layout(&t->batches, &t->corpus->train, (enum sequences)run->sequences, run->context, run->batch,
        run->seed, arena);
    batch_layout(&t->batch, t->model.max_rows, arena);
    instruments_layout(&t->instruments, &t->model.layout, run->layers, arena);
    t->weights = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    t->gradient = arena_take(arena, (size_t)t->model.layout.size, sizeof(scalar));
    history_layout(&t->history, run->layers, measure_rows(t->measure, t->last_step, NULL), arena);
}

size_t train_memory(const struct run *run, const struct corpus *corpus, const struct measure *measure)
{
    struct trainer trainer = {.run = run, .corpus = corpus, .measure = measure};
    struct arena arena = {0};

    trainer.last_step = run_last_step(run, corpus);
    trainer_layout(&trainer, &arena);
    return arena.used;
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

static void emit_row(const struct trainer *t, int64_t index)
{
    const struct observer *observer = t->observer;

    if (observer && observer->row)
        observer->row(observer->context, t->history.step[index], history_row(&t->history, index),
            metric_row_size(t->run->layers));
}

static void end_row(struct trainer *t, int64_t step)
{
    hide_unwanted(t);
    history_add_row(&t->history, step);
    emit_row(t, t->history.row_count - 1);
}

static struct snapshot snapshot_of(struct trainer *t, int64_t step)
{
    t->result->last_step = step;
    t->result->seconds = clock_now() - t->begin;
    return (struct snapshot){
        .run = t->run,
        .model = &t->model,
        .step = step,
        .last_step = t->last_step,
        .weights = t->weights,
        .optimiser = &t->optimiser,
        .instruments = &t->instruments,
        .history = &t->history,
        .result = t->result,
    };
}

/* Does what the observer wants before a step. False: the run stops here. */
static bool carry_on(struct trainer *t, int64_t step)
{
    const struct observer *observer = t->observer;
    enum verdict verdict = VERDICT_CARRY_ON;

    if (observer && observer->carry_on)
        verdict = observer->carry_on(observer->context, step, t->last_step, t->result->tokens);
    if ((verdict == VERDICT_SAVE || verdict == VERDICT_SAVE_AND_STOP) && observer->save) {
        const struct snapshot snapshot = snapshot_of(t, step);
        observer->save(observer->context, &snapshot);
    }
    if (verdict == VERDICT_STOP || verdict == VERDICT_SAVE_AND_STOP)
        t->result->outcome = OUTCOME_PENDING;
    return t->result->outcome == OUTCOME_RUNNING;
}

/*
 * Every sequence of the validation text counts once, however they are packed. False: told to stop. It may
 * take minutes, so that the observer is asked between its batches; as nothing of the step has been done yet,
 * what is saved then is the run before the step, and a validation that was interrupted counts nothing.
 */
static bool validate(struct trainer *t, int64_t step, double *loss)
{
    struct validation validation;
    double sum = 0, begin = clock_now();
    int64_t count = 0, taken;

    validation_init(&validation, &t->corpus->valid, (enum sequences)t->run->sequences, t->run->context,
        t->measure->validate_tokens);
    while ((taken = validation_next(&validation, t->model.max_rows, &t->batch)) > 0) {
        if (count > 0 && !carry_on(t, step))
            return false;
        sum += (double)taken * transformer_loss(&t->model, t->weights, &t->batch, NULL);
        count += taken;
    }
    t->result->validate_seconds += clock_now() - begin;
    t->result->validated++;
    *loss = sum / (double)count;
    return true;
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
    history_add_norm(&t->history, step, state.param_norm);
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

/* The measures of theta_t itself, and its loss on the validation text where `valid_loss` is not NULL. False:
 * one of them is not finite. */
static bool look(struct trainer *t, int64_t step, bool measured, const double *valid_loss)
{
    double begin = clock_now();
    bool finite = true;

    t->row = history_begin_row(&t->history);
    if (measured) {
        put_state(t, step);
        finite = isfinite(ROW(t, total_norm));
        t->result->measure_seconds += clock_now() - begin;
        t->result->measured++;
    }
    if (finite && valid_loss) { /* a loss of weights that are not finite says nothing */
        ROW(t, valid_loss) = *valid_loss;
        finite = isfinite(*valid_loss);
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

/* From theta_t through everything that belongs to step t. Sets the outcome when the run ends or stops here.
 */
static void advance(struct trainer *t, int64_t step)
{
    bool measured = measure_at(t->measure, step, t->last_step);
    bool validated = t->can_validate && validate_at(t->measure, step, t->last_step);
    bool row = measured || validated, last = step == t->last_step, finite = true;
    double valid_loss;

    if (validated && !validate(t, step, &valid_loss))
        return;
    if (row)
        finite = look(t, step, measured, validated ? &valid_loss : NULL);
    if (finite)
        finite = last ? last_loss(t) : take_step(t, step, measured);
    if (row)
        end_row(t, step);
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
    VALUE(t, norm_growth) = history_growth(&t->history);
    if (!t->measure->group[GROUP_NORMS])
        return;
    history_fit(&t->history, &growth);
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

/* All memory of the run, zeroed and laid out; -1 and a reason where there is not so much. */
static int lay_out(struct trainer *t, struct arena *arena)
{
    size_t memory = train_memory(t->run, t->corpus, t->measure);
    struct result *result = t->result;

    arena_rest(arena);
    if (memory > limits()->memory || arena_renew(arena, memory) != 0) {
        snprintf(result->reason, sizeof(result->reason),
            "no memory: the run needs %.1f MiB, and this process may have %.1f MiB", (double)memory / 0x1p20,
            (double)limits()->memory / 0x1p20);
        result->outcome = OUTCOME_FAILED;
        return -1;
    }
    trainer_layout(t, arena);
    return 0;
}

/* -1 and a reason for a run that cannot be trained. */
static int prepare(struct trainer *t, struct arena *arena)
{
    const struct run *run = t->run;
    enum sequences sequences = (enum sequences)run->sequences;
    struct result *result = t->result;

    result_init(result);
    t->last_step = run_last_step(run, t->corpus);
    t->can_validate = text_sequences(&t->corpus->valid, sequences, run->context) > 0;
    t->schedule = run_schedule(run, t->last_step);
    if (text_sequences(&t->corpus->train, sequences, run->context) < run->batch || t->last_step < 1) {
        snprintf(
            result->reason, sizeof(result->reason), "the training text has fewer sequences than one batch");
        result->outcome = OUTCOME_FAILED;
        return -1;
    }
    return lay_out(t, arena);
}

/* Takes the run up where the observer says, in memory that is all zeros. The step, or -1: it says nothing. */
static int64_t resume(struct trainer *t)
{
    struct snapshot snapshot = snapshot_of(t, 0);
    struct result *result = t->result;

    if (!t->observer->resume(t->observer->context, &snapshot))
        return -1;
    t->begin -= result->seconds;
    result->outcome = OUTCOME_RUNNING;
    result->last_step = snapshot.step;
    for (int64_t row = 0; row < t->history.row_count; row++)
        emit_row(t, row);
    return snapshot.step;
}

/* The run's first step, where everything is ready for it; -1: not enough memory. */
static int64_t first_step(struct trainer *t, struct arena *arena)
{
    if (t->observer && t->observer->resume) {
        int64_t step = resume(t);
        if (step >= 0)
            return step;
        result_init(t->result); /* what was filled in until resuming failed is nothing to start from */
        if (lay_out(t, arena) != 0)
            return -1;
    }
    weights_init(t->weights, &t->model.layout, &t->model.architecture, t->run->seed);
    return 0;
}

static void run_steps(struct trainer *t, int64_t first)
{
    const struct result *result = t->result;

    advance(t, first);
    for (int64_t step = first + 1; result->outcome == OUTCOME_RUNNING; step++)
        if (carry_on(t, step))
            advance(t, step);
}

static void finish(struct trainer *t)
{
    const struct observer *observer = t->observer;

    put_growth(t);
    if (observer && observer->finish) {
        const struct snapshot snapshot = snapshot_of(t, t->last_step);
        observer->finish(observer->context, &snapshot);
    }
}

void train(const struct run *run, const struct corpus *corpus, const struct measure *measure,
    const struct observer *observer, struct arena *arena, struct result *result)
{
    struct trainer t = {
        .run = run, .corpus = corpus, .measure = measure, .observer = observer, .result = result};
    int64_t first;

    t.begin = clock_now();
    if (prepare(&t, arena) == 0 && (first = first_step(&t, arena)) >= 0)
        run_steps(&t, first);
    if (result->outcome == OUTCOME_DONE)
        finish(&t);
    result->seconds = clock_now() - t.begin;
    arena_rest(arena);
}
