/* The tensors of an architecture: shapes, layout and initial values. */
#include "model/network/weights.h"

#include <math.h>
#include <stddef.h>

#include "model/core/check.h"
#include "model/core/random.h"

const struct tensor_row tensor_table[TENSOR_KIND_COUNT] = {
#define X(KIND, name, part, role, rows, columns, fan_in, needs, draw, gpt2)                                  \
    [TENSOR_##KIND] = {#name, PART_##part, ROLE_##role, EXTENT_##rows, EXTENT_##columns, EXTENT_##fan_in,    \
        needs, draw, gpt2},
    TENSORS(X)
#undef X
};

int64_t extent_length(const struct architecture *a, enum tensor_extent extent)
{
    const int64_t length[EXTENT_COUNT] = {
        [EXTENT_ONE] = 1,
        [EXTENT_VOCABULARY] = a->vocabulary,
        [EXTENT_CONTEXT] = a->context,
        [EXTENT_WIDTH] = a->width,
        [EXTENT_KEYS] = a->width / a->heads * architecture_kv_heads(a),
        [EXTENT_HEAD] = a->width / a->heads,
        [EXTENT_HEADS] = a->heads,
        [EXTENT_FEEDFORWARD] = a->feedforward,
        [EXTENT_BUCKETS] = RELATIVE_BUCKETS,
    };

    return length[extent];
}

/* What the architecture has, and its block `layer`; -1: outside the layers. */
static unsigned present_in(const struct architecture *a, int64_t layer)
{
    bool cross = layer >= 0 && architecture_stack(a, architecture_stack_of(a, layer)).cross;

    return (a->bias ? BIASED : 0u) | (a->bias && norm_table[a->norm].shift ? SHIFTED : 0u) |
           (a->norm_placement == NORM_PRE ? FINAL_NORM : 0u) | (a->gated ? GATED : 0u) |
           (a->tied ? 0u : UNTIED) | (a->qk_norm ? QK_NORM : 0u) | (cross ? CROSS : 0u) |
           (architecture_stacks(a) > 1 ? TWO_STACKS : 0u) |
           (a->positions == POSITIONS_LEARNED ? LEARNED : 0u) |
           (a->positions == POSITIONS_RELATIVE ? RELATIVE : 0u);
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
    if (layout->tensor)
        layout->tensor[layout->tensor_count] = tensor;
    layout->tensor_count++;
}

static void place_all(struct weight_layout *layout, const struct architecture *architecture)
{
    for (enum tensor_kind kind = 0; kind < LAYER_TENSOR_FIRST; kind++)
        place_tensor(layout, architecture, kind, -1);
    layout->layers_begin = layout->size;
    for (int64_t layer = 0; layer < architecture_blocks(architecture); layer++) {
        if (layout->layer_begin)
            layout->layer_begin[layer] = layout->size;
        for (enum tensor_kind kind = LAYER_TENSOR_FIRST; kind < LAYER_TENSOR_END; kind++)
            place_tensor(layout, architecture, kind, layer);
    }
    layout->layers_end = layout->size;
    if (layout->layer_begin)
        layout->layer_begin[architecture_blocks(architecture)] = layout->size;
    for (enum tensor_kind kind = LAYER_TENSOR_END; kind < TENSOR_KIND_COUNT; kind++)
        place_tensor(layout, architecture, kind, -1);
}

void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena)
{
    size_t count = (size_t)(TENSOR_KIND_COUNT + (architecture_blocks(architecture) - 1) * LAYER_TENSOR_COUNT);

    *layout = (struct weight_layout){.tensor = arena_take(arena, count, sizeof(*layout->tensor)),
        .layer_begin =
            arena_take(arena, (size_t)architecture_blocks(architecture) + 1, sizeof(*layout->layer_begin))};
    place_all(layout, architecture);
    INVARIANT(layout->tensor_count == (int64_t)count, "%lld tensors, %zu expected",
        (long long)layout->tensor_count, count);
}

int64_t architecture_parameters(const struct architecture *architecture)
{
    struct weight_layout layout = {0};

    place_all(&layout, architecture);
    return layout.size;
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

/* Do queries and keys come from this tensor? */
static bool is_of_scores(enum tensor_kind kind)
{
    return kind == TENSOR_Q || kind == TENSOR_K || kind == TENSOR_Q_BIAS || kind == TENSOR_K_BIAS ||
           kind == TENSOR_CROSS_Q || kind == TENSOR_CROSS_K || kind == TENSOR_CROSS_Q_BIAS ||
           kind == TENSOR_CROSS_K_BIAS;
}

/*
 * The deviation under INIT_NORMAL. What writes to the residual stream starts smaller by the root of the
 * number of sub-layers of its stack, so that their sum does not grow with the depth (Radford et al. 2019).
 */
static double normal_deviation(const struct architecture *a, const struct tensor *tensor)
{
    if (tensor_table[tensor->kind].role != ROLE_WRITER)
        return a->init_deviation;
    const struct stack_form stack = architecture_stack(a, architecture_stack_of(a, tensor->layer));
    return a->init_deviation / sqrt((double)((stack.cross ? 3 : 2) * (stack.end - stack.begin)));
}

/* Initial values of matrices and biases. */
static void init_linear(
    scalar *weights, const struct tensor *tensor, const struct architecture *a, int64_t seed, uint64_t first)
{
    const struct tensor_row *row = &tensor_table[tensor->kind];
    bool bias = row->role == ROLE_BIAS;
    double scale = !bias && row->part == PART_LAYER ? a->init_scale : 1;

    if ((a->zero_query_key && is_of_scores(tensor->kind)) || (a->init != INIT_TORCH && bias))
        fill_tensor(weights, tensor, 0);
    else if (a->init == INIT_TORCH)
        draw_uniform(weights, tensor, scale / sqrt((double)extent_length(a, row->fan_in)), seed, first);
    else if (a->init == INIT_XAVIER)
        draw_normal(
            weights, tensor, scale * sqrt(2.0 / (double)(tensor->rows + tensor->columns)), seed, first);
    else
        draw_normal(weights, tensor, scale * normal_deviation(a, tensor), seed, first);
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
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        scalar *at = weights + tensor->offset;
        uint64_t first = first_draw(tensor);

        switch (tensor_table[tensor->kind].role) {
        case ROLE_EMBEDDING:
            draw_normal(at, tensor, architecture->init == INIT_NORMAL ? architecture->init_deviation : 1,
                seed, first);
            break;
        case ROLE_GAIN:
            fill_tensor(at, tensor, 1);
            break;
        case ROLE_SHIFT:
            fill_tensor(at, tensor, 0);
            break;
        case ROLE_MATRIX:
        case ROLE_WRITER:
        case ROLE_BIAS:
            init_linear(at, tensor, architecture, seed, first);
            break;
        }
    }
}

void weights_scale(const struct weight_layout *layout, scalar *scaled, const scalar *weights, double factor)
{
    for (int64_t i = 0; i < layout->size; i++)
        scaled[i] = (scalar)(factor * (double)weights[i]);
}
