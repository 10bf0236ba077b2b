/* The weight list: shapes, layout and initial values of every tensor. */
#include "model/network/weights.h"

#include <math.h>
#include <stddef.h>

#include "model/core/random.h"

static const char *const names[TENSOR_KIND_COUNT] = {
#define X(kind, name) [TENSOR_##kind] = #name,
    TENSOR_KINDS(X)
#undef X
};

const char *tensor_name(enum tensor_kind kind)
{
    return names[kind];
}

/* [rows, columns] of a kind of tensor; 0 x 0 for one that the architecture has not. */
static void tensor_shape(const struct architecture *a, enum tensor_kind kind, int64_t *rows, int64_t *columns)
{
    int64_t width = a->width, bias = a->bias, final = a->norm_placement == NORM_PRE;
    const int64_t shape[TENSOR_KIND_COUNT][2] = {
        [TENSOR_TOKEN] = {a->vocabulary, width},
        [TENSOR_POSITION] = {a->context, width},
        [TENSOR_Q] = {width, width},
        [TENSOR_K] = {width, width},
        [TENSOR_V] = {width, width},
        [TENSOR_O] = {width, width},
        [TENSOR_W1] = {a->feedforward, width},
        [TENSOR_W2] = {width, a->feedforward},
        [TENSOR_LN1] = {1, width},
        [TENSOR_LN2] = {1, width},
        [TENSOR_Q_BIAS] = {bias, width},
        [TENSOR_K_BIAS] = {bias, width},
        [TENSOR_V_BIAS] = {bias, width},
        [TENSOR_O_BIAS] = {bias, width},
        [TENSOR_W1_BIAS] = {bias, a->feedforward},
        [TENSOR_W2_BIAS] = {bias, width},
        [TENSOR_LN1_BIAS] = {bias, width},
        [TENSOR_LN2_BIAS] = {bias, width},
        [TENSOR_FINAL] = {final, width},
        [TENSOR_FINAL_BIAS] = {final && bias, width},
        [TENSOR_OUTPUT] = {a->tied ? 0 : a->vocabulary, width},
        [TENSOR_OUTPUT_BIAS] = {1, a->vocabulary},
    };

    *rows = shape[kind][0];
    *columns = *rows ? shape[kind][1] : 0;
}

int64_t tensor_index(const struct architecture *architecture, enum tensor_kind kind, int64_t layer)
{
    if (kind < LAYER_TENSOR_FIRST)
        return kind;
    if (kind < LAYER_TENSOR_FIRST + LAYER_TENSOR_COUNT)
        return kind + layer * LAYER_TENSOR_COUNT;
    return kind + (architecture->layers - 1) * LAYER_TENSOR_COUNT;
}

/* Lays one tensor behind those before it. */
static void place_tensor(struct weight_layout *layout, const struct architecture *architecture,
    enum tensor_kind kind, int64_t layer)
{
    struct tensor tensor = {.kind = kind, .layer = layer, .offset = layout->size};

    tensor_shape(architecture, kind, &tensor.rows, &tensor.columns);
    tensor.size = tensor.rows * tensor.columns;
    layout->size += tensor.size;
    layout->largest = tensor.size > layout->largest ? tensor.size : layout->largest;
    if (layout->tensor)
        layout->tensor[layout->tensor_count] = tensor;
    layout->tensor_count++;
}

static void place_all(struct weight_layout *layout, const struct architecture *architecture)
{
    const enum tensor_kind behind = (enum tensor_kind)(LAYER_TENSOR_FIRST + LAYER_TENSOR_COUNT);

    for (enum tensor_kind kind = 0; kind < LAYER_TENSOR_FIRST; kind++)
        place_tensor(layout, architecture, kind, -1);
    layout->layers_begin = layout->size;
    for (int64_t layer = 0; layer < architecture->layers; layer++)
        for (enum tensor_kind kind = LAYER_TENSOR_FIRST; kind < behind; kind++)
            place_tensor(layout, architecture, kind, layer);
    layout->layers_end = layout->size;
    for (enum tensor_kind kind = behind; kind < TENSOR_KIND_COUNT; kind++)
        place_tensor(layout, architecture, kind, -1);
}

void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena)
{
    size_t count = (size_t)(TENSOR_KIND_COUNT + (architecture->layers - 1) * LAYER_TENSOR_COUNT);

    *layout = (struct weight_layout){.tensor = arena_take(arena, count, sizeof(*layout->tensor))};
    place_all(layout, architecture);
}

int64_t architecture_parameters(const struct architecture *architecture)
{
    struct weight_layout layout = {0};

    place_all(&layout, architecture);
    return layout.size;
}

static bool is_bias(enum tensor_kind kind)
{
    return (kind >= TENSOR_Q_BIAS && kind <= TENSOR_W2_BIAS) || kind == TENSOR_OUTPUT_BIAS;
}

/* The inputs of a linear layer, from its matrix or its bias. */
static int64_t fan_in(const struct architecture *a, const struct tensor *tensor)
{
    if (!is_bias(tensor->kind))
        return tensor->columns;
    return tensor->kind == TENSOR_W2_BIAS ? a->feedforward : a->width;
}

static void draw_normal(
    scalar *weights, const struct tensor *tensor, double deviation, int64_t seed, uint64_t first)
{
    for (int64_t i = 0; i < tensor->size; i++)
        weights[i] = (scalar)(deviation * random_normal((uint64_t)seed, RANDOM_INIT, first + (uint64_t)i));
}

static void draw_uniform(
    scalar *weights, const struct tensor *tensor, double bound, int64_t seed, uint64_t first)
{
    for (int64_t i = 0; i < tensor->size; i++) {
        double unit = random_uniform((uint64_t)seed, RANDOM_INIT, first + (uint64_t)i);
        weights[i] = (scalar)(bound * (2 * unit - 1));
    }
}

static void fill_tensor(scalar *weights, const struct tensor *tensor, scalar value)
{
    for (int64_t i = 0; i < tensor->size; i++)
        weights[i] = value;
}

/* Matrices and biases of linear layers. */
static void init_linear(
    scalar *weights, const struct tensor *tensor, const struct architecture *a, int64_t seed, uint64_t first)
{
    bool query_key = tensor->kind == TENSOR_Q || tensor->kind == TENSOR_K || tensor->kind == TENSOR_Q_BIAS ||
                     tensor->kind == TENSOR_K_BIAS;

    if ((a->zero_query_key && query_key) || (a->init == INIT_XAVIER && is_bias(tensor->kind)))
        fill_tensor(weights, tensor, 0);
    else if (a->init == INIT_TORCH)
        draw_uniform(weights, tensor, 1 / sqrt((double)fan_in(a, tensor)), seed, first);
    else
        draw_normal(weights, tensor, sqrt(2.0 / (double)(tensor->rows + tensor->columns)), seed, first);
}

void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed)
{
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        /* A tensor's draws have a place of their own, wherever it lies: 2^40 elements, 2^24 tensors. */
        uint64_t identity = (uint64_t)(tensor->layer + 1) * TENSOR_KIND_COUNT + (uint64_t)tensor->kind;
        scalar *at = weights + tensor->offset;

        switch (tensor->kind) {
        case TENSOR_TOKEN:
        case TENSOR_POSITION:
            draw_normal(at, tensor, 1, seed, identity << 40);
            break;
        case TENSOR_LN1:
        case TENSOR_LN2:
        case TENSOR_FINAL:
            fill_tensor(at, tensor, 1);
            break;
        case TENSOR_LN1_BIAS:
        case TENSOR_LN2_BIAS:
        case TENSOR_FINAL_BIAS:
            fill_tensor(at, tensor, 0);
            break;
        default:
            init_linear(at, tensor, architecture, seed, identity << 40);
        }
    }
}

void weights_scale(const struct weight_layout *layout, scalar *scaled, const scalar *weights, double factor)
{
    for (int64_t i = 0; i < layout->size; i++)
        scaled[i] = (scalar)(factor * (double)weights[i]);
}
