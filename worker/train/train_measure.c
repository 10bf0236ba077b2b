/* Measures a run under way: its rows, and the row of the whole run at the end. */
#include "worker/host/host.h"
#include "worker/train/inside.h"

#include <math.h>
#include <string.h>

/* In passing, the history's room for the measured steps holds them; it is empty yet. */
static void lay_out_outlook(struct trainer *t, struct arena *arena)
{
    const struct schedule schedule = run_schedule(t->run, t->last_step);
    int64_t *step = t->history.norm_step, count = 0;

    outlook_layout(&t->outlook, t->history.rows_most, arena);
    if (!step) /* only counting bytes */
        return;
    int64_t rows = measure_rows(t->measure, t->last_step, step);
    for (int64_t i = 0; i < rows; i++)
        if (measure_at(t->measure, step[i], t->last_step))
            step[count++] = step[i];
    outlook_begin(&t->outlook, &schedule, run_decay(t->run), step, count);
}

void train_measure_layout(struct trainer *t, struct arena *arena)
{
    const bool *group = t->measure->group;
    const struct metric_form form = metric_form(t->run, t->measure);
    const struct architecture *a = &t->model.architecture;

    instruments_layout(&t->instruments, &t->model.layout, a, group[GROUP_FORCES], arena);
    collapse_layout(&t->collapse, a->vocabulary, t->model.max_rows, arena);
    if (train_saturates(t))
        saturation_layout(&t->saturation, a, t->model.max_rows, t->run->threads, group[GROUP_SATURATION],
            group[GROUP_HEADS], false, arena);
    if (train_attends(t))
        attending_layout(&t->attending, a, t->model.max_rows, arena);
    if (group[GROUP_SHARPNESS])
        sharpness_layout(&t->sharpness, &t->optimiser.options, &t->model.layout, t->run->threads, arena);
    if (group[GROUP_HOMOGENEITY])
        homogeneity_layout(&t->fresh, a, arena);
    train_probe_layout(t, arena);
    history_layout(&t->history, &form, measure_rows(t->measure, t->last_step, NULL), arena);
    t->run_row = arena_take(arena, form.run_size, sizeof(*t->run_row));
    if (run_may_end_early(t->run))
        lay_out_outlook(t, arena);
}

/* ---- rows ---- */

#define VALUE(t, name) ((t)->run_row[(t)->history.form.offset[METRIC_##name]])

static void put_state(struct trainer *t, int64_t step)
{
    struct instruments *i = &t->instruments;
    struct state_measures state;

    measure_state(i, t->weights, &state);
    ROW(t, param_norm) = state.param_norm;
    ROW(t, embedding_norm) = state.embedding_norm;
    ROW(t, output_norm) = state.output_norm;
    ROW(t, total_norm) = state.total_norm;
    ROW(t, direction_cosine) = state.direction_cosine;
    measured_put(&t->row, METRIC_stack_norm, state.stack_norm);
    measured_put(&t->row, METRIC_stack_direction_cosine, state.stack_direction_cosine);
    measured_put_blocks(&t->row, METRIC_layer_norm, i->layer_norm, 1);
    measured_put_blocks(&t->row, METRIC_layer_direction_cosine, i->layer_direction_cosine, 1);
    measured_put_blocks(&t->row, METRIC_tensor_norm, i->tensor_norm, LAYER_TENSOR_COUNT);
    if (t->measure->group[GROUP_EQUILIBRIUM] || t->measure->group[GROUP_SPECTRA]) {
        measure_equilibrium(i, &t->optimiser, trainer_next_rate(t, step));
        measured_put_blocks(&t->row, METRIC_tensor_rms, i->tensor_rms, LAYER_TENSOR_COUNT);
        measured_put_blocks(
            &t->row, METRIC_rotation_equilibrium, i->rotation_equilibrium, LAYER_TENSOR_COUNT);
        measured_put_blocks(&t->row, METRIC_rms_equilibrium, i->rms_equilibrium, LAYER_TENSOR_COUNT);
    }
    if (t->measure->group[GROUP_FORCES])
        measured_put_blocks(
            &t->row, METRIC_force_sum, i->force_sum[0], LAYER_TENSOR_COUNT * (size_t)FORCE_COUNT);
    ROW(t, force_error) = state.force_error;
    history_add_norm(&t->history, step, state.param_norm);
}

/* Continues the sum of the row before, so that a run that is resumed has the same. */
static double rate_sum(const struct trainer *t, int64_t step)
{
    const struct history *history = &t->history;
    int64_t last = history->row_count - 1, taken = last < 0 ? 0 : history->step[last];
    double sum = last < 0 ? 0 : history_row(history, last)[history->form.offset[METRIC_rate_sum]];

    while (taken < step)
        sum += schedule_rate(&t->schedule, ++taken);
    return sum;
}

bool train_begin_row(struct trainer *t, int64_t step, bool measured, const struct validated *validated)
{
    double begin = clock_now();
    bool finite = true;

    t->row = (struct measured){&t->history.form, &t->model.architecture, history_begin_row(&t->history)};
    ROW(t, rate_sum) = rate_sum(t, step);
    if (measured) {
        put_state(t, step);
        finite = isfinite(ROW(t, total_norm));
        if (finite && train_saturates(t))
            measured_put_saturation(&t->row, &t->saturation);
        if (finite && train_attends(t))
            measured_put_attention(&t->row, &t->attending);
        if (finite)
            train_put_probe(t, step);
        t->result->measure_seconds += clock_now() - begin;
        t->result->measured++;
        t->result->saturated += train_saturates(t);
        t->result->attended += train_attends(t);
    }
    t->result->validated += validated != NULL;
    if (finite && validated) { /* the loss of weights that are not finite means nothing */
        ROW(t, valid_loss) = validated->loss;
        ROW(t, predicted_entropy) = validated->collapse.predicted_entropy;
        ROW(t, accuracy) = validated->collapse.accuracy;
        finite = isfinite(validated->loss);
    }
    return finite;
}

static void emit(const struct trainer *t, int64_t step, const double *values)
{
    const struct observer *observer = t->observer;

    if (observer && observer->row)
        observer->row(observer->context, step, values, metric_row_size(&t->history.form, step));
}

void train_emit_rows(const struct trainer *t)
{
    for (int64_t row = 0; row < t->history.row_count; row++)
        emit(t, t->history.step[row], history_row(&t->history, row));
}

void train_emit_run(const struct trainer *t)
{
    emit(t, STEP_OF_RUN, t->run_row);
}

void train_end_row(struct trainer *t, int64_t step)
{
    /* erase what was measured on the way to other metrics, while its own group is switched off */
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        if (metric_is_of_run(metric) || t->measure->group[metric_table[metric].group])
            continue;
        double *hidden = measured_values(&t->row, metric);
        for (size_t i = 0; i < metric_values(metric, &t->history.form); i++)
            hidden[i] = NAN;
    }
    history_add_row(&t->history, step);
    emit(t, step, t->row.values);
}

/* ---- the end ---- */

bool train_ends_early(const struct trainer *t)
{
    const struct history *history = &t->history;
    int64_t count = history->norm_count;

    if (!run_may_end_early(t->run))
        return false;
    history->norm[count] = measure_norm(&t->instruments, t->weights); /* its place in the row to come */
    return outlook_of(&t->outlook, history->norm, history->reach, count + 1) != OUTLOOK_OPEN;
}

/* ---- steps ---- */

void train_before_step(struct trainer *t, double clip, int64_t number)
{
    struct history *history = &t->history;
    double rate = schedule_rate(&t->schedule, number);
    struct step_measures measures;

    if (run_may_end_early(t->run))
        history->reach[history->norm_count - 1] =
            measure_reach(&t->instruments, &t->optimiser, t->weights, t->gradient, clip, number, rate);
    if (!t->measure->group[GROUP_ALIGNMENT])
        return;
    measure_gradient(&t->instruments, &t->optimiser, t->weights, t->gradient, clip, number, rate, &measures);
    measured_put_blocks(&t->row, METRIC_layer_gradient_alignment, t->instruments.layer_gradient_alignment, 1);
    ROW(t, grad_norm) = measures.grad_norm;
    ROW(t, gradient_alignment) = measures.gradient_alignment;
    ROW(t, update_norm) = measures.update_norm;
    ROW(t, update_alignment) = measures.update_alignment;
    ROW(t, update_alignment_null) = measures.update_alignment_null;
}

void train_count_step(struct trainer *t, int64_t number, bool measured)
{
    double rate = schedule_rate(&t->schedule, number);

    if (!t->measure->group[GROUP_FORCES])
        return;
    measure_forces(&t->instruments, &t->optimiser, number, rate,
        measured ? measured_values(&t->row, METRIC_forces) : NULL);
    if (measured)
        measured_put_blocks(&t->row, METRIC_tensor_forces, t->instruments.tensor_force[0],
            LAYER_TENSOR_COUNT * (size_t)FORCE_COUNT);
}

double train_sharpen(struct trainer *t, double loss, double clip, int64_t number)
{
    double begin = clock_now(), rate = schedule_rate(&t->schedule, number), before = NAN;
    const struct history *history = &t->history;
    const scalar *weights;

    /* the value before is the last one of the rows, so that a run that is resumed has the same */
    for (int64_t row = history->row_count - 1; row >= 0 && isnan(before); row--)
        before = history_row(history, row)[history->form.offset[METRIC_critical_sharpness]];
    sharpness_begin(&t->sharpness, &t->optimiser, t->weights, t->gradient, clip, number, loss, rate, before);
    while ((weights = sharpness_next(&t->sharpness)))
        sharpness_take(&t->sharpness, train_loss_at(t, weights));
    ROW(t, critical_sharpness) = sharpness_end(&t->sharpness);
    t->result->sharpened++;
    double seconds = clock_now() - begin;
    t->result->sharpness_seconds += seconds;
    return seconds;
}

void train_after_step(struct trainer *t)
{
    struct step_measures measures;

    if (!t->measure->group[GROUP_ALIGNMENT] && !t->measure->group[GROUP_EQUILIBRIUM])
        return;
    measure_step(&t->instruments, t->weights, &measures);
    measured_put_blocks(&t->row, METRIC_layer_step_size, t->instruments.layer_step_size, 1);
    measured_put_blocks(&t->row, METRIC_layer_alignment, t->instruments.layer_alignment, 1);
    measured_put_blocks(&t->row, METRIC_rotation, t->instruments.rotation, LAYER_TENSOR_COUNT);
    ROW(t, step_size) = measures.step_size;
    ROW(t, alignment) = measures.alignment;
    ROW(t, balance_error) = measures.balance_error;
}

/* ---- on the validation text ---- */

/* Called for each batch, of `sequences` sequences. */
typedef void batch_function(struct trainer *t, int64_t sequences, void *context);

/* In place of a step: does not ask the observer between batches. */
enum { UNASKED = -1 };

/* Passes all batches of a validation to take_up, in order. False: the observer stopped the run. */
static bool each_batch(struct trainer *t, int64_t step, batch_function *take_up, void *context)
{
    struct validation validation;
    int64_t count = 0, taken;

    validation_init(&validation, &t->corpus->valid, &t->reading, t->measure->validate_tokens);
    while ((taken = validation_next(&validation, t->room, &t->batch)) > 0) {
        if (count > 0 && step != UNASKED && !train_carry_on(t, step))
            return false;
        take_up(t, taken, context);
        count += taken;
    }
    return true;
}

struct loss {
    double sum;
    int64_t count; /* of sequences */
    bool attend; /* measure attention in the same passes */
    double attend_seconds;
};

/* Adds the last pass. */
static double add_attention(struct trainer *t)
{
    double begin = clock_now();

    attending_add(&t->attending, &t->model, &t->batch);
    return clock_now() - begin;
}

static void add_loss(struct trainer *t, int64_t sequences, void *context)
{
    struct loss *loss = context;

    loss->sum += (double)sequences *
                 transformer_evaluate(&t->model, t->weights, &t->batch, NULL, t->collapse.predicted);
    loss->count += sequences;
    collapse_add(&t->collapse, &t->batch);
    if (loss->attend)
        loss->attend_seconds += add_attention(t);
}

bool train_validate(struct trainer *t, int64_t step, bool attend, struct validated *validated)
{
    double begin = clock_now();
    struct loss loss = {.attend = attend};

    collapse_begin(&t->collapse);
    if (attend)
        attending_begin(&t->attending);
    if (!each_batch(t, step, add_loss, &loss))
        return false;
    collapse_end(&t->collapse, &validated->collapse);
    if (attend)
        attending_end(&t->attending, &t->model.architecture);
    validated->loss = loss.sum / (double)loss.count;
    t->result->validate_seconds += clock_now() - begin - loss.attend_seconds;
    t->result->attention_seconds += loss.attend_seconds;
    return true;
}

bool train_attends(const struct trainer *t)
{
    return t->can_validate && t->measure->group[GROUP_ATTENTION];
}

static void add_attending(struct trainer *t, int64_t sequences, void *context)
{
    (void)sequences, (void)context;
    transformer_forward(&t->model, t->weights, &t->batch, false);
    add_attention(t);
}

bool train_attend(struct trainer *t, int64_t step)
{
    double begin = clock_now();

    attending_begin(&t->attending);
    if (!each_batch(t, step, add_attending, NULL))
        return false;
    attending_end(&t->attending, &t->model.architecture);
    t->result->attention_seconds += clock_now() - begin;
    return true;
}

bool train_saturates(const struct trainer *t)
{
    return t->can_validate && (t->measure->group[GROUP_SATURATION] || t->measure->group[GROUP_HEADS]);
}

static void add_saturation(struct trainer *t, int64_t sequences, void *context)
{
    (void)sequences;
    saturation_add(&t->saturation, context, &t->batch);
}

bool train_saturate(struct trainer *t, int64_t step)
{
    struct weight_planes planes = {t->weights, t->gradient, NULL};
    double begin = clock_now();

    weights_scale(t->gradient, t->weights, t->model.layout.size, SATURATION_SCALE);
    saturation_begin(&t->saturation, &planes);
    if (!each_batch(t, step, add_saturation, &planes))
        return false;
    saturation_end(&t->saturation);
    t->result->saturate_seconds += clock_now() - begin;
    return true;
}

/* ---- of the whole run ---- */

static void add_targets(struct trainer *t, int64_t sequences, void *context)
{
    (void)sequences, (void)context;
    collapse_add(&t->collapse, &t->batch);
}

/* Depends on the targets only, not on the model. */
static void put_unigram_loss(struct trainer *t)
{
    struct unigram own = {0}, *unigram = t->observer && t->observer->unigram ? t->observer->unigram : &own;
    int64_t tokens = t->measure->validate_tokens;

    if (!t->can_validate)
        return;
    if (!unigram_is_of(unigram, t->corpus, &t->reading, tokens)) {
        collapse_begin(&t->collapse);
        each_batch(t, UNASKED, add_targets, NULL);
        double loss = collapse_unigram_loss(&t->collapse, &t->corpus->train, &t->reading, &t->batch);
        *unigram = (struct unigram){true, t->corpus->digest, t->reading, tokens, loss};
    }
    VALUE(t, unigram_loss) = unigram->loss;
}

void train_put_givens(struct trainer *t)
{
    struct homogeneity homogeneity;

    for (size_t i = 0; i < t->history.form.run_size; i++)
        t->run_row[i] = NAN;
    put_unigram_loss(t);
    if (!t->measure->group[GROUP_HOMOGENEITY])
        return;
    homogeneity_measure(&t->fresh, t->run->seed, &homogeneity);
    memcpy(&VALUE(t, homogeneity), homogeneity.cosine, sizeof(homogeneity.cosine));
    VALUE(t, homogeneity_degree) = homogeneity.degree;
    VALUE(t, homogeneity_degree_r2) = homogeneity.degree_r2;
    VALUE(t, output_homogeneity_degree) = homogeneity.output_degree;
    VALUE(t, output_homogeneity_degree_r2) = homogeneity.output_degree_r2;
}

/* Puts the norms of a fit, one for each measured norm, into the rows of their steps. */
static void put_fitted(const struct trainer *t, enum metric metric, const double *norm)
{
    const struct history *history = &t->history;

    for (int64_t row = 0, i = 0; row < history->row_count && i < history->norm_count; row++)
        if (history->step[row] == history->norm_step[i])
            history_row(history, row)[history->form.offset[metric]] = norm[i++];
}

void train_put_growth(struct trainer *t)
{
    const struct history *history = &t->history;
    int64_t count = history->norm_count;
    double *norm = history->fitted;
    struct growth growth;
    struct dynamics_fit fit = {
        .aligned.norm = norm, .misaligned.norm = norm + count, .adam_like.norm = norm + 2 * count};

    VALUE(t, final_train_loss) = ROW(t, train_loss);
    VALUE(t, final_valid_loss) = ROW(t, valid_loss);
    VALUE(t, norm_growth) = t->result->norm_growth = history->norm[count - 1] / history->norm[0];
    if (!t->measure->group[GROUP_NORMS])
        return;
    growth_fit(history->norm_step, history->norm, count, history->scratch, &growth);
    VALUE(t, growth_exponent) = growth.exponent;
    VALUE(t, growth_exponent_error) = growth.exponent_error;
    VALUE(t, growth_exponent_r2) = growth.exponent_r2;
    VALUE(t, fit_sqrt_r2) = growth.sqrt_r2;
    VALUE(t, fit_linear_r2) = growth.linear_r2;
    VALUE(t, fit_fourth_root_r2) = growth.fourth_root_r2;
    VALUE(t, fit_exponential_r2) = growth.exponential_r2;
    dynamics_fit(&t->schedule, run_decay(t->run), history->norm_step, history->norm, count, &fit);
    put_fitted(t, METRIC_fit_aligned_norm, fit.aligned.norm);
    put_fitted(t, METRIC_fit_misaligned_norm, fit.misaligned.norm);
    put_fitted(t, METRIC_fit_adam_like_norm, fit.adam_like.norm);
    VALUE(t, fit_aligned_k) = fit.aligned.parameter;
    VALUE(t, fit_aligned_r2) = fit.aligned.r2;
    VALUE(t, fit_aligned_aic) = fit.aligned.aic;
    VALUE(t, fit_misaligned_k) = fit.misaligned.parameter;
    VALUE(t, fit_misaligned_r2) = fit.misaligned.r2;
    VALUE(t, fit_misaligned_aic) = fit.misaligned.aic;
    VALUE(t, fit_adam_like_a) = fit.adam_like.parameter;
    VALUE(t, fit_adam_like_r2) = fit.adam_like.r2;
    VALUE(t, fit_adam_like_aic) = fit.adam_like.aic;
    t->result->dynamics = fit.best;
    train_emit_rows(t);
}
