/*
 * Measurements at theta_t that take long: passes of their own over training batches, beside the one of the
 * step (the groups gradients, hessian, residual and lyapunov), or the spectra of all matrices. They come
 * before the row of the step begins.
 */
#include "worker/host/host.h"
#include "worker/train/inside.h"

#include <math.h>
#include <string.h>

void train_probe_layout(struct trainer *t, struct arena *arena)
{
    const struct architecture *a = &t->model.architecture;
    const struct measure *m = t->measure;

    if (m->group[GROUP_GRADIENTS])
        gradients_layout(&t->gradients, &t->model.layout, a, arena);
    if (m->group[GROUP_HESSIAN])
        hessian_layout(&t->hessian, &t->model.layout, architecture_blocks(a), m->hessian_probes,
            m->hessian_steps, m->group[GROUP_HESSIAN_LAYERS], edge_has_preconditioner(&t->optimiser.options),
            arena);
    if (m->group[GROUP_RESIDUAL])
        for (int64_t stack = 0; stack < architecture_stacks(a); stack++)
            residual_layout(&t->residual[stack], a, stack, t->model.max_rows, arena);
    if (m->group[GROUP_LYAPUNOV])
        lyapunov_layout(&t->lyapunov, a, m->lyapunov_exponents, m->lyapunov_sweeps, a->context, arena);
    if (m->group[GROUP_SPECTRA])
        spectra_layout(&t->spectra, &t->model.layout, a, m->group[GROUP_SPECTRA_VALUES], arena);
    if (m->group[GROUP_RESIDUAL] || m->group[GROUP_LYAPUNOV])
        transformer_layout(&t->single, a, a->context, t->run->threads, true, arena);
}

/* Over the batches that the run takes next, as if theta_t stayed. */
static bool probe_gradients(struct trainer *t, int64_t step)
{
    double begin = clock_now();

    gradients_begin(&t->gradients);
    for (int64_t i = 0; i < t->measure->gradient_batches; i++) {
        if (i > 0 && !train_carry_on(t, step))
            return false;
        train_gradient(t, step + 1 + i);
        gradients_add(&t->gradients, t->gradient);
    }
    gradients_end(&t->gradients);
    t->result->gradients_seconds += clock_now() - begin;
    return true;
}

static bool probe_residual(struct trainer *t, int64_t step)
{
    double begin = clock_now();
    int64_t seed = t->run->seed;

    batches_fill(&t->batches, step + 1, &t->batch);
    for (int64_t stack = 0; stack < architecture_stacks(&t->model.architecture); stack++) {
        struct residual *residual = &t->residual[stack];
        residual_states(residual, &t->model, t->weights, &t->batch);
        if (!train_carry_on(t, step))
            return false;
        residual_gradients(residual, &t->model, t->weights, &t->batch, seed);
        if (!train_carry_on(t, step))
            return false;
        residual_angle(residual, &t->single, t->weights, &t->batch, seed);
    }
    t->result->residual_seconds += clock_now() - begin;
    return true;
}

static bool probe_lyapunov(struct trainer *t, int64_t step)
{
    double begin = clock_now();

    batches_fill(&t->batches, step + 1, &t->batch);
    for (int64_t stack = 0; stack < architecture_stacks(&t->model.architecture); stack++) {
        lyapunov_begin(&t->lyapunov, &t->single, t->weights, &t->batch, stack, t->run->seed);
        while (lyapunov_advance(&t->lyapunov))
            if (!train_carry_on(t, step))
                return false;
    }
    t->result->lyapunov_seconds += clock_now() - begin;
    return true;
}

/* Over the same batches as the gradients. */
static bool probe_hessian(struct trainer *t, int64_t step)
{
    struct hessian *h = &t->hessian;
    double begin = clock_now();
    bool preconditioned = h->root && step > 0;
    const scalar *direction;

    if (preconditioned)
        edge_root(&t->optimiser, step, h->root);
    hessian_begin(h, (uint64_t)t->run->seed, preconditioned);
    while (hessian_next(h)) { /* a Lanczos process */
        while ((direction = hessian_direction(h))) {
            for (int64_t i = 0; i < t->measure->hessian_batches; i++) {
                if (!train_carry_on(t, step))
                    return false;
                train_hessian_product(t, step + 1 + i, direction);
                hessian_add(h, t->gradient);
            }
            hessian_step(h);
        }
        hessian_close(h);
    }
    t->result->hessian_seconds += clock_now() - begin;
    return true;
}

static bool probe_spectra(struct trainer *t, int64_t step)
{
    double begin = clock_now();

    for (int64_t block = 0; block < t->spectra.blocks; block++) {
        if (block > 0 && !train_carry_on(t, step))
            return false;
        spectra_measure(&t->spectra, t->weights, block);
    }
    t->result->spectra_seconds += clock_now() - begin;
    return true;
}

bool train_probe(struct trainer *t, int64_t step)
{
    const bool *group = t->measure->group;

    return (!group[GROUP_GRADIENTS] || probe_gradients(t, step)) &&
           (!hessian_at(t->measure, step, t->end) || probe_hessian(t, step)) &&
           (!group[GROUP_RESIDUAL] || probe_residual(t, step)) &&
           (!group[GROUP_LYAPUNOV] || probe_lyapunov(t, step)) &&
           (!spectra_at(t->measure, t->run, step, t->end) || probe_spectra(t, step));
}

/* Slopes are over the layers of each stack; those in theory, of a fresh model, are of one stack alone. */
static void put_gradients(const struct trainer *t, int64_t step)
{
    const struct metric_form *form = &t->history.form;
    int64_t kinds = form->along[DIMENSION_TENSOR];
    double *slope = measured_values(&t->row, METRIC_gradient_depth_slope);
    double *error = measured_values(&t->row, METRIC_gradient_depth_slope_error);
    double *theory = measured_values(&t->row, METRIC_gradient_depth_slope_theory);

    measured_put_blocks(&t->row, METRIC_mean_gradient_norm, t->gradients.mean_norm, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_batch_gradient_norm, t->gradients.batch_norm, LAYER_TENSOR_COUNT);
    for (int64_t stack = 0; stack < form->along[DIMENSION_STACK]; stack++)
        for (int64_t kind = 0; kind < kinds; kind++) {
            slope[stack * kinds + kind] = t->gradients.slope[stack * LAYER_TENSOR_COUNT + kind];
            error[stack * kinds + kind] = t->gradients.slope_error[stack * LAYER_TENSOR_COUNT + kind];
        }
    for (int64_t kind = 0; step == 0 && kind < kinds; kind++)
        theory[kind] =
            gradients_theory(&t->model.architecture, (enum tensor_kind)(LAYER_TENSOR_FIRST + kind));
}

static double bound_of(const struct hessian *h, const struct spectrum *s)
{
    return hessian_bound(s->size, h->probes, h->steps, s->largest - s->smallest);
}

static void put_hessian(const struct trainer *t, int64_t step)
{
    const struct hessian *h = &t->hessian;
    const struct spectrum *s = &h->whole;
    const struct optimiser_options *options = &t->optimiser.options;
    double edge = edge_bound(options);
    double largest = edge_has_preconditioner(options) ? h->preconditioned : s->largest; /* of P^-1 H */

    measured_put(&t->row, METRIC_hessian_ritz, s->ritz);
    measured_put(&t->row, METRIC_hessian_weight, s->weight);
    ROW(t, hessian_largest) = s->largest;
    ROW(t, hessian_smallest) = s->smallest;
    ROW(t, hessian_trace) = s->trace;
    ROW(t, hessian_trace_error) = s->trace_error;
    ROW(t, hessian_bound) = bound_of(h, s);
    if (!isfinite(edge))
        return;
    ROW(t, hessian_preconditioned) = largest;
    ROW(t, hessian_stability) = largest * trainer_next_rate(t, step) / edge;
}

static void put_hessian_layers(const struct trainer *t)
{
    const struct hessian *h = &t->hessian;
    size_t values = (size_t)(h->probes * h->steps);

    for (int64_t layer = 0; layer < h->layers; layer++) {
        const struct spectrum *s = &h->layer[layer];
        memcpy(measured_block(&t->row, METRIC_layer_hessian_ritz, layer), s->ritz, values * sizeof(*s->ritz));
        memcpy(measured_block(&t->row, METRIC_layer_hessian_weight, layer), s->weight,
            values * sizeof(*s->weight));
        *measured_block(&t->row, METRIC_layer_hessian_largest, layer) = s->largest;
        *measured_block(&t->row, METRIC_layer_hessian_smallest, layer) = s->smallest;
        *measured_block(&t->row, METRIC_layer_hessian_trace, layer) = s->trace;
        *measured_block(&t->row, METRIC_layer_hessian_trace_error, layer) = s->trace_error;
        *measured_block(&t->row, METRIC_layer_hessian_bound, layer) = bound_of(h, s);
    }
}

static void put_residual(const struct trainer *t)
{
    int64_t first = 0; /* the number of the first depth of a stack among those of all */

    for (int64_t stack = 0; stack < architecture_stacks(&t->model.architecture); stack++) {
        const struct residual *r = &t->residual[stack];
        for (int64_t depth = 0; depth <= r->layers; depth++) {
            *measured_block(&t->row, METRIC_residual_norm, first + depth) = r->norm[depth];
            *measured_block(&t->row, METRIC_residual_cosine, first + depth) = r->cosine[depth];
        }
        first += r->layers + 1;
        measured_values(&t->row, METRIC_residual_growth)[r->stack] = r->growth;
        measured_values(&t->row, METRIC_residual_growth_error)[r->stack] = r->growth_error;
        measured_values(&t->row, METRIC_gradient_growth)[r->stack] = r->gradient_growth;
        measured_values(&t->row, METRIC_angle_exponent)[r->stack] = r->angle_exponent;
        measured_values(&t->row, METRIC_gradient_exponent)[r->stack] = r->gradient_exponent;
    }
}

static void put_spectra(struct trainer *t)
{
    struct spectra *s = &t->spectra;

    spectra_judge(s, &t->instruments);
    measured_put_blocks(&t->row, METRIC_top_singular, s->top, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_stable_rank, s->stable_rank, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_top_over_noise, s->over_noise, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_spectral_entropy, s->entropy, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_dead, s->dead, LAYER_TENSOR_COUNT);
    measured_put_blocks(&t->row, METRIC_qk_rank, s->qk_rank, (size_t)t->run->heads);
    measured_put_blocks(&t->row, METRIC_ov_rank, s->ov_rank, (size_t)t->run->heads);
    measured_put_blocks(&t->row, METRIC_qk_imbalance, s->qk_imbalance, (size_t)t->run->heads);
    measured_put_blocks(&t->row, METRIC_ov_imbalance, s->ov_imbalance, (size_t)t->run->heads);
    if (s->values)
        measured_put_blocks(
            &t->row, METRIC_singular_values, s->values, LAYER_TENSOR_COUNT * (size_t)s->length);
}

void train_put_probe(struct trainer *t, int64_t step)
{
    const bool *group = t->measure->group;
    bool hessian = hessian_at(t->measure, step, t->end);
    bool spectra = spectra_at(t->measure, t->run, step, t->end);

    if (group[GROUP_GRADIENTS])
        put_gradients(t, step);
    if (hessian)
        put_hessian(t, step);
    if (hessian && t->hessian.layer)
        put_hessian_layers(t);
    if (group[GROUP_RESIDUAL])
        put_residual(t);
    if (group[GROUP_LYAPUNOV]) {
        measured_put(&t->row, METRIC_lyapunov, t->lyapunov.exponent);
        measured_put(&t->row, METRIC_lyapunov_angular, t->lyapunov.angular);
    }
    if (spectra)
        put_spectra(t);
    t->result->gradients += group[GROUP_GRADIENTS];
    t->result->hessians += hessian;
    t->result->residuals += group[GROUP_RESIDUAL];
    t->result->lyapunovs += group[GROUP_LYAPUNOV];
    t->result->spectra += spectra;
}
