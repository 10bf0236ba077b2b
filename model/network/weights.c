/* The tensors of an architecture: shapes, layout and initial values. */
#include "model/network/network.h"

#include <math.h>
#include <stddef.h>

#include "model/core/check.h"
#include "model/core/random.h"

const struct tensor_row tensor_table[TENSOR_KIND_COUNT] = {
#define X(KIND, name, part, role, rows, columns, fan_in, needs, draw)                                        \
    [TENSOR_##KIND] = {                                                                                      \
        #name, PART_##part, ROLE_##role, EXTENT_##rows, EXTENT_##columns, EXTENT_##fan_in, needs, draw},
    TENSORS(X)
#undef X
};

int64_t extent_length(const struct architecture *a, enum tensor_extent extent)
{
    int64_t depth = architecture_depth(a), queries = depth * a->heads;
    int64_t keys = depth * architecture_kv_heads(a);
    const int64_t length[EXTENT_COUNT] = {
        [EXTENT_ONE] = 1,
        [EXTENT_VOCABULARY] = a->vocabulary,
        [EXTENT_CONTEXT] = a->context,
        [EXTENT_WIDTH] = a->width,
        [EXTENT_QUERIES] = queries,
        [EXTENT_KEYS] = keys,
        [EXTENT_HEADS] = a->heads,
        [EXTENT_FEEDFORWARD] = a->feedforward,
        [EXTENT_BUCKETS] = RELATIVE_BUCKETS,
        [EXTENT_Q_NORM] = a->qk_norm == QK_NORM_TOGETHER ? queries : depth,
        [EXTENT_K_NORM] = a->qk_norm == QK_NORM_TOGETHER ? keys : depth,
        [EXTENT_TYPES] = a->token_types,
    };

    return length[extent];
}

/* What the architecture has, and its block `layer`; -1: outside the layers. */
static unsigned present_in(const struct architecture *a, int64_t layer)
{
    bool cross = layer >= 0 && architecture_stack(a, architecture_stack_of(a, layer)).cross;

    return (a->biases & BIAS_QKV ? QKV_BIASED : 0u) | (a->biases & BIAS_O ? O_BIASED : 0u) |
           (a->biases & BIAS_FEEDFORWARD ? FEEDFORWARD_BIASED : 0u) |
           (a->biases & BIAS_OUTPUT ? OUTPUT_BIASED : 0u) |
           (a->biases & BIAS_NORM && norm_table[a->norm].shift ? SHIFTED : 0u) |
           (a->norm != NO_NORM ? WITH_NORMS : 0u) |
           (a->norm != NO_NORM && (a->norm_placement == NORM_PRE || a->final_norm) ? FINAL_NORM : 0u) |
           (a->gated ? GATED : 0u) | (a->tied ? 0u : UNTIED) | (a->qk_norm ? QK_NORM : 0u) |
           (cross ? CROSS : 0u) | (architecture_stacks(a) > 1 ? TWO_STACKS : 0u) |
           (a->positions == POSITIONS_LEARNED ? LEARNED : 0u) |
           (a->positions == POSITIONS_RELATIVE ? RELATIVE : 0u) |
           (a->positions == POSITIONS_DISTANCE ? DISTANCE : 0u) | (a->token_types ? TYPED : 0u) |
           (a->embedding_norm ? EMBEDDING_NORMED : 0u) | (a->transform ? TRANSFORMED : 0u);
}

int64_t tensor_index(const struct architecture *architecture, enum tensor_kind kind, int64_t layer)
{
    if (kind < LAYER_TENSOR_FIRST)
        return kind;
    if (kind < LAYER_TENSOR_END)
        return kind + layer * LAYER_TENSOR_COUNT;
    return kind + (architecture_blocks(architecture) - 1) * LAYER_TENSOR_COUNT;
}

/* Places one tensor after those before it. */
static void place_tensor(struct weight_layout *layout, const struct architecture *architecture,
    enum tensor_kind kind, int64_t layer)
{
    const struct tensor_row *row = &tensor_table[kind];
    struct tensor tensor = {.kind = kind, .layer = layer, .offset = layout->size};

    if ((row->needs & ~present_in(architecture, layer)) == 0) {
        tensor.rows = extent_length(architecture, row->rows);
        tensor.columns = extent_length(architecture, row->columns);
    }
    tensor.size = tensor.rows * tensor.columns;
    layout->size += tensor.size;
    layout->largest = tensor.size > layout->largest ? tensor.size : layout->largest;
    if (layer >= 0 && tensor.size > layout->largest_in_layers)
        layout->largest_in_layers = tensor.size;
    if (layout->tensor)
        layout->tensor[layout->tensor_count] = tensor;
    layout->tensor_count++;
}

/* Places all tensors: those of the blocks one block behind the other or, if they are shared, all of them at
 * the same place. */
static void place_all(struct weight_layout *layout, const struct architecture *architecture, bool shared)
{
    for (enum tensor_kind kind = 0; kind < LAYER_TENSOR_FIRST; kind++)
        place_tensor(layout, architecture, kind, -1);
    layout->layers_begin = layout->layers_end = layout->size;
    for (int64_t layer = 0; layer < architecture_blocks(architecture); layer++) {
        if (shared)
            layout->size = layout->layers_begin;
        if (layout->layer_begin)
            layout->layer_begin[layer] = layout->size;
        for (enum tensor_kind kind = LAYER_TENSOR_FIRST; kind < LAYER_TENSOR_END; kind++)
            place_tensor(layout, architecture, kind, layer);
        layout->layers_end = layout->size > layout->layers_end ? layout->size : layout->layers_end;
    }
    layout->size = layout->layers_end;
    if (layout->layer_begin)
        layout->layer_begin[architecture_blocks(architecture)] = layout->layers_end;
    for (enum tensor_kind kind = LAYER_TENSOR_END; kind < TENSOR_KIND_COUNT; kind++)
        place_tensor(layout, architecture, kind, -1);
}

void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, bool shared, struct arena *arena)
{
    size_t blocks = (size_t)architecture_blocks(architecture);
    size_t count = TENSOR_KIND_COUNT + (blocks - 1) * LAYER_TENSOR_COUNT;

    *layout = (struct weight_layout){.tensor = arena_take(arena, count, sizeof(*layout->tensor)),
        .layer_begin = arena_take(arena, blocks + 1, sizeof(*layout->layer_begin))};
    place_all(layout, architecture, shared);
    INVARIANT(layout->tensor_count == (int64_t)count, "%lld tensors, %zu expected",
        (long long)layout->tensor_count, count);
}

int64_t architecture_parameters(const struct architecture *architecture)
{
    struct weight_layout layout = {0};

    place_all(&layout, architecture, false);
    return layout.size;
}

/* Do queries and keys come from this tensor? */
static bool is_of_scores(enum tensor_kind kind)
{
    return kind == TENSOR_Q || kind == TENSOR_K || kind == TENSOR_Q_BIAS || kind == TENSOR_K_BIAS ||
           kind == TENSOR_CROSS_Q || kind == TENSOR_CROSS_K || kind == TENSOR_CROSS_Q_BIAS ||
           kind == TENSOR_CROSS_K_BIAS;
}

/* The deviation under INIT_NORMAL. What writes to the residual stream starts smaller by the root of the
 * number of sub-layers of its stack, so that their sum does not grow with the depth (Radford et al. 2019). */
static double normal_deviation(const struct architecture *a, const struct tensor *tensor)
{
    if (tensor_table[tensor->kind].role != ROLE_WRITER)
        return a->init_deviation;
    const struct stack_form stack = architecture_stack(a, architecture_stack_of(a, tensor->layer));
    return a->init_deviation / sqrt((double)((stack.cross ? 3 : 2) * (stack.end - stack.begin)));
}

/* The initial values of a tensor: all equal to `size`, drawn between -size and size, or normal, with the
 * deviation `size`. */
struct initial_values {
    enum { INITIAL_EQUAL, INITIAL_UNIFORM, INITIAL_NORMAL } kind;
    double size;
};

static struct initial_values initial_values_of(const struct architecture *a, const struct tensor *tensor)
{
    const struct tensor_row *row = &tensor_table[tensor->kind];
    bool bias = row->role == ROLE_BIAS;
    double scale = !bias && row->part == PART_LAYER ? a->init_scale : 1;
    double inputs = (double)extent_length(a, row->fan_in); /* as initial values have them */

    if (a->output_inputs && (tensor->kind == TENSOR_OUTPUT || tensor->kind == TENSOR_OUTPUT_BIAS))
        inputs = (double)a->output_inputs;
    switch (row->role) {
    case ROLE_EMBEDDING:
        return (struct initial_values){INITIAL_NORMAL, a->init == INIT_NORMAL ? a->init_deviation : 1};
    case ROLE_GAIN:
        return (struct initial_values){INITIAL_EQUAL, 1};
    case ROLE_SHIFT:
        return (struct initial_values){INITIAL_EQUAL, 0};
    case ROLE_MATRIX:
    case ROLE_WRITER:
    case ROLE_BIAS:
        break;
    }
    if ((a->zero_query_key && is_of_scores(tensor->kind)) || (a->init != INIT_TORCH && bias))
        return (struct initial_values){INITIAL_EQUAL, 0};
    if (a->init == INIT_TORCH)
        return (struct initial_values){INITIAL_UNIFORM, scale / sqrt(inputs)};
    if (a->init == INIT_XAVIER)
        return (struct initial_values){INITIAL_NORMAL, scale * sqrt(2.0 / ((double)tensor->rows + inputs))};
    return (struct initial_values){INITIAL_NORMAL, scale * normal_deviation(a, tensor)};
}

/*
 * The number of a tensor's first draw: each tensor has 2^40 draws of its own, wherever it lies in memory. The
 * kinds that the table began with are numbered densely over the layers; later kinds follow beyond them, so
 * that a new kind changes no initial value.
 */
static uint64_t first_draw(const struct tensor *tensor)
{
    enum { FIRST_KINDS = 22, LATER_KINDS = 1 << 6, LATER = 1 << 23 };
    _Static_assert(LAYERS_MOST * FIRST_KINDS + FIRST_KINDS <= LATER &&
                       LATER + (LAYERS_MOST + 1) * LATER_KINDS <= 1 << 24,
        "numbers of tensors do not overlap and fit 24 bits");
    uint64_t draw = tensor_table[tensor->kind].draw, layer = (uint64_t)(tensor->layer + 1);
    uint64_t number =
        draw < FIRST_KINDS ? layer * FIRST_KINDS + draw : LATER + layer * LATER_KINDS + (draw - FIRST_KINDS);

    return number << 40;
}

void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed)
{
    const struct kernels *kernels = kernels_best(PRECISION_FLOAT);

    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        const struct initial_values initial = initial_values_of(architecture, tensor);
        const uint64_t first = first_draw(tensor);
        scalar *at = weights + tensor->offset;
        for (int64_t j = 0; initial.kind == INITIAL_EQUAL && j < tensor->size; j++)
            at[j] = (scalar)initial.size;
        if (initial.kind == INITIAL_UNIFORM)
            kernels->draw_uniform(at, tensor->size, initial.size, (uint64_t)seed, RANDOM_INIT, first);
        if (initial.kind == INITIAL_NORMAL)
            kernels->draw_normal(at, tensor->size, initial.size, (uint64_t)seed, RANDOM_INIT, first);
    }
}

void weights_scale(scalar *scaled, const scalar *weights, int64_t count, double factor)
{
    for (int64_t i = 0; i < count; i++)
        scaled[i] = (scalar)(factor * (double)weights[i]);
}

void weights_scale_loaded(
    const struct weight_layout *layout, int64_t layer, scalar *scaled, const scalar *weights, double factor)
{
    int64_t begin = layout->layers_begin, end = layout->layers_end;

    if (layer >= 0) {
        weights_scale(scaled + begin, weights + begin, end - begin, factor);
    } else {
        weights_scale(scaled, weights, begin, factor);
        weights_scale(scaled + end, weights + end, layout->size - end, factor);
    }
}
