/*
 * Gradients of several minibatches at one theta: gradients_begin, gradients_add after each backward pass,
 * gradients_end. Sums stand in one plane of the layers, which the kernels add to; the end turns them into
 * norms and fits a line through their logarithms for each kind of tensor and each stack. A norm that is 0 or
 * not finite makes its fit NaN; nothing can fail.
 */
#include "model/instruments/inside.h"

#include <string.h>

static size_t plane_size(const struct gradients *g)
{
    return (size_t)(g->layout->layers_end - g->layout->layers_begin);
}

void gradients_layout(struct gradients *g, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena)
{
    size_t blocks = (size_t)architecture_blocks(architecture), tensors = blocks * LAYER_TENSOR_COUNT;
    size_t slopes = (size_t)architecture_stacks(architecture) * LAYER_TENSOR_COUNT;

    *g = (struct gradients){.layout = layout,
        .architecture = architecture,
        .kernels = kernels_best(PRECISION_FLOAT),
        .blocks = (int64_t)blocks};
    g->sum = arena_take(arena, plane_size(g), sizeof(scalar));
    g->mean_norm = arena_take(arena, tensors, sizeof(double));
    g->batch_norm = arena_take(arena, tensors, sizeof(double));
    g->slope = arena_take(arena, slopes, sizeof(double));
    g->slope_error = arena_take(arena, slopes, sizeof(double));
    g->depth = arena_take(arena, blocks, sizeof(double));
    g->logarithm = arena_take(arena, blocks, sizeof(double));
}

void gradients_begin(struct gradients *g)
{
    g->count = 0;
    memset(g->sum, 0, plane_size(g) * sizeof(*g->sum));
    memset(g->batch_norm, 0, (size_t)(g->blocks * LAYER_TENSOR_COUNT) * sizeof(*g->batch_norm));
}

void gradients_add(struct gradients *g, const scalar *gradient)
{
    const struct tensor *tensor = layer_tensor(g->layout, 0); /* and those behind it */
    int64_t size = (int64_t)plane_size(g);

    for (int64_t i = 0; i < g->blocks * LAYER_TENSOR_COUNT; i++) {
        const scalar *at = gradient + tensor[i].offset;
        g->batch_norm[i] += sqrt(g->kernels->dot(at, at, tensor[i].size));
    }
    g->kernels->column_sums(g->sum, gradient + g->layout->layers_begin, size, 1, size, true);
    g->count++;
}

/* Fits the slope of each kind of tensor in one stack. */
static void fit_slopes(struct gradients *g, int64_t stack)
{
    const struct stack_form form = architecture_stack(g->architecture, stack);
    int64_t layers = form.end - form.begin;

    for (int64_t kind = 0; kind < LAYER_TENSOR_COUNT; kind++) {
        const double *norm = g->mean_norm + form.begin * LAYER_TENSOR_COUNT + kind;
        struct straight fit = {NAN, NAN, NAN};
        bool finite = true;
        for (int64_t layer = 0; layer < layers; layer++) {
            g->depth[layer] = (double)layer;
            g->logarithm[layer] = log(norm[layer * LAYER_TENSOR_COUNT]);
            finite = finite && isfinite(g->logarithm[layer]);
        }
        if (finite)
            fit = straight_fit(g->depth, g->logarithm, layers);
        g->slope[stack * LAYER_TENSOR_COUNT + kind] = fit.slope;
        g->slope_error[stack * LAYER_TENSOR_COUNT + kind] = fit.slope_error;
    }
}

void gradients_end(struct gradients *g)
{
    const struct tensor *tensor = layer_tensor(g->layout, 0);

    for (int64_t i = 0; i < g->blocks * LAYER_TENSOR_COUNT; i++) {
        const scalar *at = g->sum + (tensor[i].offset - g->layout->layers_begin);
        double norm = sqrt(g->kernels->dot(at, at, tensor[i].size)) / (double)g->count;
        g->mean_norm[i] = tensor[i].size ? norm : NAN;
        g->batch_norm[i] = tensor[i].size ? g->batch_norm[i] / (double)g->count : NAN;
    }
    for (int64_t stack = 0; stack < architecture_stacks(g->architecture); stack++)
        fit_slopes(g, stack);
}

double gradients_theory(const struct architecture *a, enum tensor_kind kind)
{
    bool unscaled = a->init_scale == 1 && a->residual_scale == 1;
    bool derived = unscaled && architecture_stacks(a) == 1 && a->init == INIT_XAVIER && a->zero_query_key &&
                   a->norm == LAYERNORM && !a->qk_norm && a->activation == ACTIVATION_RELU && !a->gated &&
                   a->feedforward == a->width;

    if (!derived || kind != TENSOR_W2 || a->norm_placement == NORM_OUT)
        return NAN;
    return a->norm_placement == NORM_POST ? log(1.5) / 2 : 0;
}
