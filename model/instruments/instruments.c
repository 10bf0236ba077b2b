/*
 * The norms and directions that a run measures at its steps. At a measured step training calls measure_state,
 * which keeps theta, and measure_equilibrium; once the gradient is there, measure_reach and measure_gradient;
 * after the step, measure_step. Kernels add up squares and products in double, tensor by tensor; the values
 * of layers, stacks and the whole follow from these sums, so that no pass reads a weight twice. Nothing can
 * fail: what is not defined, and what a diverged run leads to, is NaN.
 */
#include "model/instruments/inside.h"

void instruments_layout(struct instruments *instruments, const struct weight_layout *layout,
    const struct architecture *architecture, bool forces, struct arena *arena)
{
    size_t size = (size_t)(layout->layers_end - layout->layers_begin);
    size_t blocks = (size_t)architecture_blocks(architecture);

    *instruments = (struct instruments){
        .layer_norm = arena_take(arena, blocks, sizeof(double)),
        .layer_direction_cosine = arena_take(arena, blocks, sizeof(double)),
        .tensor_norm = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .layer_gradient_alignment = arena_take(arena, blocks, sizeof(double)),
        .layer_step_size = arena_take(arena, blocks, sizeof(double)),
        .layer_alignment = arena_take(arena, blocks, sizeof(double)),
        .tensor_rms = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .rotation = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .rotation_equilibrium = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .rms_equilibrium = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .layout = layout,
        .kernels = kernels_best(PRECISION_FLOAT),
        .blocks = (int64_t)blocks,
        .stacks = architecture_stacks(architecture),
        .kept = arena_take(arena, size, sizeof(scalar)),
        .kept_square = NAN,
        .layer_square = arena_take(arena, blocks, sizeof(double)),
    };
    for (int64_t stack = 0; stack < instruments->stacks; stack++)
        instruments->end[stack] = architecture_stack(architecture, stack).end;
    if (!forces)
        return;
    size_t tensors = blocks * LAYER_TENSOR_COUNT;
    instruments->tensor_force = arena_take(arena, tensors, sizeof(*instruments->tensor_force));
    instruments->force_sum = arena_take(arena, tensors, sizeof(*instruments->force_sum));
    for (size_t tensor = 0; instruments->force_sum && tensor < tensors; tensor++)
        for (int force = 0; force < FORCE_COUNT; force++)
            instruments->tensor_force[tensor][force] = instruments->force_sum[tensor][force] = NAN;
}

static void sums_add(struct sums *sums, struct sums more)
{
    sums->square += more.square;
    sums->product += more.product;
}

/* Compares a layer with the kept one, then keeps it. */
static struct sums measure_layer(const struct instruments *i, const scalar *weights, int64_t layer)
{
    struct sums sums = {0};

    for (int64_t at = layer * LAYER_TENSOR_COUNT; at < (layer + 1) * LAYER_TENSOR_COUNT; at++) {
        const struct tensor *tensor = layer_tensor(i->layout, at);
        scalar *kept = i->kept + (tensor->offset - i->layout->layers_begin);
        struct sums one = i->kernels->keep(kept, weights + tensor->offset, tensor->size);
        sums_add(&sums, one);
        i->tensor_norm[at] = tensor->size ? sqrt(one.square) : NAN;
        i->tensor_rms[at] = tensor->size ? sqrt(one.square / (double)tensor->size) : NAN;
    }
    return sums;
}

/* Adds up the forces of all tensors. NaN where chance is not known: pull then holds what is by chance. */
static void whole_force(const struct instruments *i, double (*force)[FORCE_COUNT], double whole[FORCE_COUNT])
{
    double aligned = 0;

    for (int k = 0; k < FORCE_COUNT; k++)
        whole[k] = 0;
    for (int64_t at = 0; at < i->blocks * LAYER_TENSOR_COUNT; at++) {
        const double *of = force[at];
        if (layer_tensor(i->layout, at)->size == 0)
            continue;
        aligned += isnan(of[FORCE_CHANCE]) ? of[FORCE_PULL] : of[FORCE_CHANCE] + of[FORCE_PULL];
        for (int k = 0; k < FORCE_PULL; k++)
            whole[k] += of[k];
    }
    whole[FORCE_PULL] = isnan(whole[FORCE_CHANCE]) ? aligned : aligned - whole[FORCE_CHANCE];
}

void measure_state(struct instruments *i, const scalar *weights, struct state_measures *measures)
{
    bool first = isnan(i->kept_square);
    struct sums whole = {0};
    struct outside outside;

    for (int64_t stack = 0, layer = 0; stack < i->stacks; stack++) {
        struct sums part = {0};
        double kept = 0;
        for (; layer < i->end[stack]; layer++) {
            struct sums sums = measure_layer(i, weights, layer);
            i->layer_direction_cosine[layer] =
                first ? NAN : cosine(sums.product, sums.square, i->layer_square[layer]);
            i->layer_norm[layer] = sqrt(sums.square);
            kept += i->layer_square[layer];
            i->layer_square[layer] = sums.square;
            sums_add(&part, sums);
            sums_add(&whole, sums);
        }
        measures->stack_norm[stack] = sqrt(part.square);
        measures->stack_direction_cosine[stack] = first ? NAN : cosine(part.product, part.square, kept);
    }
    outside_measure(&outside, i->layout, i->kernels, weights);
    measures->embedding_norm = sqrt(outside.embedding);
    measures->output_norm = sqrt(outside.output);
    measures->total_norm = sqrt(whole.square + (outside.embedding + outside.output + outside.final));
    measures->param_norm = sqrt(whole.square);
    measures->direction_cosine = first ? NAN : cosine(whole.product, whole.square, i->kept_square);
    measures->force_error = NAN;
    if (i->force_sum) {
        double forces[FORCE_COUNT], change = 0;
        whole_force(i, i->force_sum, forces);
        for (int k = 0; k < FORCE_COUNT; k++)
            change += k == FORCE_CHANCE && isnan(forces[k]) ? 0 : forces[k];
        measures->force_error =
            fabs(whole.square - i->kept_square - change) / fmax(whole.square, i->kept_square);
    }
    i->kept_square = whole.square;
}

double measure_norm(const struct instruments *i, const scalar *weights)
{
    const scalar *layers = weights + i->layout->layers_begin;

    return sqrt(i->kernels->dot(layers, layers, i->layout->layers_end - i->layout->layers_begin));
}

void measure_gradient(struct instruments *i, const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double clip, int64_t step, double rate, struct step_measures *measures)
{
    int64_t begin = i->layout->layers_begin, end = i->layout->layers_end;
    struct update update = optimiser_update(optimiser, weights, gradient, clip, step, rate, begin, end);
    struct sums g = {0};

    for (int64_t layer = 0; layer < i->blocks; layer++) {
        int64_t at = i->layout->layer_begin[layer], size = i->layout->layer_begin[layer + 1] - at;
        struct sums one = i->kernels->sums(weights + at, gradient + at, size);
        i->layer_gradient_alignment[layer] = -cosine(one.product, i->layer_square[layer], one.square);
        sums_add(&g, one);
    }

    measures->grad_norm = sqrt(g.square);
    measures->gradient_alignment = -cosine(g.product, i->kept_square, g.square);
    measures->update_norm = sqrt(update.square);
    measures->update_alignment = -cosine(update.product, i->kept_square, update.square);
    measures->update_alignment_null = cosine(update.by_chance, i->kept_square, update.square);
}

double measure_reach(const struct instruments *i, const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double clip, int64_t step, double rate)
{
    double whole = sqrt(i->kept_square), taken = 0, full = 0;

    for (int64_t at = 0; at < i->blocks * LAYER_TENSOR_COUNT; at++) {
        double norm = i->tensor_norm[at];
        if (layer_tensor(i->layout, at)->size == 0)
            continue;
        struct stride stride = optimiser_stride(
            optimiser, layer_tensor(i->layout, at), norm, whole, weights, gradient, clip, step, rate);
        taken += norm * stride.taken;
        full += norm * stride.full;
    }
    return taken / full;
}

void measure_equilibrium(struct instruments *i, const struct optimiser *optimiser, double rate)
{
    for (int64_t at = 0; at < i->blocks * LAYER_TENSOR_COUNT; at++) {
        const struct tensor *tensor = layer_tensor(i->layout, at);
        struct equilibrium e =
            tensor->size ? optimiser_equilibrium(optimiser, tensor, rate) : equilibrium_unknown();
        i->rotation_equilibrium[at] = e.rotation;
        i->rms_equilibrium[at] = e.rms;
    }
}

enum { CANCELLED = 1 << 20 };

/* The angle between theta and theta + delta, from the part of delta across theta: precise however small the
 * angle is, also where delta is little else than decay. NaN if theta is 0; theta + delta is not. */
static double angle(double norm, struct sums delta, const scalar *theta, const scalar *after, int64_t count)
{
    double along = delta.product / norm, square = delta.square - along * along;

    if (square * CANCELLED < delta.square) { /* anew, element by element */
        square = 0;
        for (int64_t i = 0; i < count; i++) {
            double across = ((double)after[i] - (double)theta[i]) - along / norm * (double)theta[i];
            square += across * across;
        }
    }
    return atan2(sqrt(square), norm + along);
}

void measure_step(struct instruments *i, const scalar *weights, struct step_measures *measures)
{
    struct sums delta = {0};
    double after = 0;

    for (int64_t layer = 0, at = 0; layer < i->blocks; layer++) {
        struct sums part = {0};
        for (; at < (layer + 1) * LAYER_TENSOR_COUNT; at++) {
            const struct tensor *tensor = layer_tensor(i->layout, at);
            const scalar *kept = i->kept + (tensor->offset - i->layout->layers_begin);
            const scalar *now = weights + tensor->offset;
            double square; /* of the tensor after the step */
            struct sums one = i->kernels->difference(kept, now, tensor->size, &square);
            i->rotation[at] = square > 0 ? angle(i->tensor_norm[at], one, kept, now, tensor->size) : NAN;
            sums_add(&part, one);
            after += square;
        }
        i->layer_step_size[layer] = sqrt(part.square);
        i->layer_alignment[layer] = cosine(part.product, i->layer_square[layer], part.square);
        sums_add(&delta, part);
    }
    measures->step_size = sqrt(delta.square);
    measures->alignment = cosine(delta.product, i->kept_square, delta.square);
    measures->balance_error =
        fabs(after - i->kept_square - (2 * delta.product + delta.square)) / fmax(after, i->kept_square);
}

void measure_forces(struct instruments *i, const struct optimiser *optimiser, int64_t step, double rate,
    double force[FORCE_COUNT])
{
    optimiser_forces(optimiser, step, rate, i->tensor_force);
    for (int64_t at = 0; at < i->blocks * LAYER_TENSOR_COUNT; at++)
        for (int k = 0; k < FORCE_COUNT; k++)
            i->force_sum[at][k] = i->tensor_force[at][k] + (force ? 0 : i->force_sum[at][k]);
    if (!force)
        return;
    whole_force(i, i->tensor_force, force);
    for (int k = 0; k < FORCE_COUNT; k++)
        force[k] /= i->kept_square;
    for (int64_t at = 0; at < i->blocks * LAYER_TENSOR_COUNT; at++) {
        double square = i->tensor_norm[at] * i->tensor_norm[at];
        for (int k = 0; k < FORCE_COUNT; k++)
            i->tensor_force[at][k] = square > 0 ? i->tensor_force[at][k] / square : NAN;
    }
}
