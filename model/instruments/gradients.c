#include "model/instruments/gradients.h"

#include <math.h>
#include <string.h>

#include "model/instruments/straight.h"
#include "model/kernels/levels.h"

static size_t plane_size(const struct gradients *g)
{
    return (size_t)(g->layout->layers_end - g->layout->layers_begin);
}

void gradients_layout(
    struct gradients *g, const struct weight_layout *layout, int64_t layers, struct arena *arena)
{
    size_t tensors = (size_t)layers * LAYER_TENSOR_COUNT;

    *g = (struct gradients){.layout = layout, .kernels = kernels_best(), .layers = layers};
    g->sum = arena_take(arena, plane_size(g), sizeof(scalar));
    g->mean_norm = arena_take(arena, tensors, sizeof(double));
    g->batch_norm = arena_take(arena, tensors, sizeof(double));
    g->slope = arena_take(arena, LAYER_TENSOR_COUNT, sizeof(double));
    g->slope_error = arena_take(arena, LAYER_TENSOR_COUNT, sizeof(double));
    g->depth = arena_take(arena, (size_t)layers, sizeof(double));
    g->logarithm = arena_take(arena, (size_t)layers, sizeof(double));
}

void gradients_begin(struct gradients *g)
{
    g->count = 0;
    memset(g->sum, 0, plane_size(g) * sizeof(*g->sum));
    memset(g->batch_norm, 0, (size_t)(g->layers * LAYER_TENSOR_COUNT) * sizeof(*g->batch_norm));
}

/* The tensors of the layers, [layers][LAYER_TENSOR_COUNT], in memory order. */
static const struct tensor *layer_tensors(const struct gradients *g)
{
    return g->layout->tensor + LAYER_TENSOR_FIRST;
}

void gradients_add(struct gradients *g, const scalar *gradient)
{
    const struct tensor *tensor = layer_tensors(g);
    int64_t size = (int64_t)plane_size(g);

    for (int64_t i = 0; i < g->layers * LAYER_TENSOR_COUNT; i++) {
        const scalar *at = gradient + tensor[i].offset;
        g->batch_norm[i] += sqrt(g->kernels->dot(at, at, tensor[i].size));
    }
    g->kernels->column_sums(g->sum, gradient + g->layout->layers_begin, size, 1, size, true);
    g->count++;
}

/* Fits the slope of one kind of tensor. */
static struct straight fit_slope(const struct gradients *g, int64_t kind)
{
    bool finite = true;

    for (int64_t layer = 0; layer < g->layers; layer++) {
        g->depth[layer] = (double)layer;
        g->logarithm[layer] = log(g->mean_norm[layer * LAYER_TENSOR_COUNT + kind]);
        finite = finite && isfinite(g->logarithm[layer]);
    }
    return finite ? straight_fit(g->depth, g->logarithm, g->layers) : (struct straight){NAN, NAN, NAN};
}

void gradients_end(struct gradients *g)
{
    const struct tensor *tensor = layer_tensors(g);

    for (int64_t i = 0; i < g->layers * LAYER_TENSOR_COUNT; i++) {
        const scalar *at = g->sum + (tensor[i].offset - g->layout->layers_begin);
        double norm = sqrt(g->kernels->dot(at, at, tensor[i].size)) / (double)g->count;
        g->mean_norm[i] = tensor[i].size ? norm : NAN;
        g->batch_norm[i] = tensor[i].size ? g->batch_norm[i] / (double)g->count : NAN;
    }
    for (int64_t kind = 0; kind < LAYER_TENSOR_COUNT; kind++) {
        struct straight fit = fit_slope(g, kind);
        g->slope[kind] = fit.slope;
        g->slope_error[kind] = fit.slope_error;
    }
}

double gradients_theory(const struct architecture *a, enum tensor_kind kind)
{
    bool unscaled = a->init_scale == 1 && a->residual_scale == 1;
    bool derived = unscaled && a->init == INIT_XAVIER && a->zero_query_key && a->norm == LAYERNORM &&
                   a->activation == ACTIVATION_RELU && !a->gated && a->feedforward == a->width;

    if (!derived || kind != TENSOR_W2 || a->norm_placement == NORM_OUT)
        return NAN;
    return a->norm_placement == NORM_POST ? log(1.5) / 2 : 0;
}
