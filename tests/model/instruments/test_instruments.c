/* Norms and cosines of one stack, the reach of a step, and norms taken block by block. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"
#include "tests/model/draw.h"

enum { ENCODER_BLOCKS = 2, DECODER_BLOCKS = 3 };

static const struct architecture decoder = {
    .network = NETWORK_DECODER,
    .layers = 3,
    .biases = BIAS_ALL,
    .final_norm = true,
    .norm_placement = NORM_POST,
};
static const struct architecture encoder = {
    .network = NETWORK_ENCODER,
    .layers = 1,
    .tied = true,
    .gated = true,
    .qk_norm = QK_NORM_TOGETHER,
};
static const struct architecture both = {
    .network = NETWORK_ENCODER_DECODER,
    .layers = 1,
    .decoder_layers = 3,
    .norm_placement = NORM_PRE,
};
static const struct architecture stacks = {
    .network = NETWORK_ENCODER_DECODER,
    .layers = ENCODER_BLOCKS,
    .decoder_layers = DECODER_BLOCKS,
    .biases = BIAS_ALL,
};
static const struct architecture *const architectures[] = {&decoder, &encoder, &both, &stacks};

/* Weights at two steps; those of the first also part by part, in a plane of the shared layout. */
struct bench {
    struct architecture architecture;
    struct weight_layout layout, shared;
    struct instruments instruments;
    struct norms norms;
    scalar *before, *after, *part;
    struct arena arena;
};

static void lay_out(struct bench *b)
{
    weight_layout_init(&b->layout, &b->architecture, false, &b->arena);
    weight_layout_init(&b->shared, &b->architecture, true, &b->arena);
    instruments_layout(&b->instruments, &b->layout, &b->architecture, false, &b->arena);
    norms_layout(&b->norms, &b->shared, &b->architecture, &b->arena);
    b->before = arena_plane(&b->arena, 1, b->layout.size);
    b->after = arena_plane(&b->arena, 1, b->layout.size);
    b->part = arena_plane(&b->arena, 1, b->shared.size);
}

static void bench_init(struct bench *b, const struct architecture *architecture)
{
    *b = (struct bench){.architecture = *architecture};
    b->architecture.vocabulary = 5;
    b->architecture.context = 3;
    b->architecture.width = 4;
    b->architecture.heads = 2;
    b->architecture.feedforward = 6;
    LAY_OUT(&b->arena, lay_out(b));
    draw(b->before, b->layout.size, 1, 1);
    draw(b->after, b->layout.size, 1, 2);
    for (int64_t i = 0; i < b->layout.size; i++)
        b->after[i] += b->before[i];
}

#define IN_BENCH(id, architecture)                                                                           \
    TEST_IN(id, struct bench, b, bench_init(b, &architecture), arena_release(&b->arena))

/* The one stack is the whole. */
IN_BENCH(instruments_measure_one_stack, decoder)
{
    struct state_measures state;

    measure_state(&b->instruments, b->before, &state);
    measure_state(&b->instruments, b->after, &state);
    CHECK(state.stack_norm[0] == state.param_norm);
    CHECK(state.stack_direction_cosine[0] == state.direction_cosine);
}

/* Gradients of one kind of tensor alone: only these move, and lion's move whole. */
IN_BENCH(instruments_measure_reach, stacks)
{
    struct optimiser_options options = {.kind = OPTIMISER_LION, .beta1 = 0.9, .beta2 = 0.99};
    struct optimiser optimiser;
    struct state_measures state;
    struct arena arena = {0};
    double taken = 0, full = 0;

    LAY_OUT(&arena, optimiser_layout(&optimiser, &options, &b->layout, 1, false, &arena));
    for (int64_t t = 0; t < b->layout.tensor_count; t++) {
        const struct tensor *tensor = &b->layout.tensor[t];
        bool moves = tensor->kind == TENSOR_W1;
        const scalar *after = b->after + tensor->offset;
        double norm = sqrt(dot(after, after, tensor->size));
        for (int64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
            b->before[i] = moves ? (scalar)1e-9 : 0;
        taken += moves ? norm * sqrt((double)tensor->size) : 0;
        full += tensor->layer >= 0 ? norm * sqrt((double)tensor->size) : 0;
    }
    measure_state(&b->instruments, b->after, &state);
    CHECK_CLOSE(
        measure_reach(&b->instruments, &optimiser, b->after, b->before, 1, 1, 1e-3), taken / full, 1e-5);
    arena_release(&arena);
}

/* ---- of a network that is there block by block, against those of the whole ---- */

static void load(const struct bench *b, int64_t layer)
{
    for (int64_t i = 0; i < b->layout.tensor_count; i++)
        if (b->layout.tensor[i].layer == layer)
            memcpy(b->part + b->shared.tensor[i].offset, b->before + b->layout.tensor[i].offset,
                (size_t)b->layout.tensor[i].size * sizeof(scalar));
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * b;
}

static void check_blocks(const struct bench *b)
{
    for (int64_t layer = 0; layer < b->norms.blocks; layer++) {
        CHECK(close_to(b->norms.layer_norm[layer], b->instruments.layer_norm[layer]));
        for (int64_t k = 0; k < LAYER_TENSOR_COUNT; k++) {
            double norm = b->norms.tensor_norm[layer * LAYER_TENSOR_COUNT + k];
            double whole = b->instruments.tensor_norm[layer * LAYER_TENSOR_COUNT + k];
            CHECK(isnan(whole) ? isnan(norm) : close_to(norm, whole));
        }
    }
}

TEST(norms_by_parts_are_those_of_the_whole)
{
    struct state_measures whole;
    struct bench b;

    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++) {
        bench_init(&b, architectures[i]);
        measure_state(&b.instruments, b.before, &whole);
        for (int64_t layer = b.norms.blocks - 1; layer >= -1; layer--) {
            load(&b, layer);
            CHECK(!norms_add(&b.norms, b.part, layer));
        }
        norms_end(&b.norms);
        check_blocks(&b);
        CHECK(close_to(b.norms.param_norm, whole.param_norm));
        CHECK(close_to(b.norms.embedding_norm, whole.embedding_norm));
        CHECK(close_to(b.norms.output_norm, whole.output_norm));
        CHECK(close_to(b.norms.total_norm, whole.total_norm));
        for (int64_t stack = 0; stack < b.norms.stacks; stack++)
            CHECK(close_to(b.norms.stack_norm[stack], whole.stack_norm[stack]));
        arena_release(&b.arena);
    }
}

/* Each weight in its turn is not finite: its tensor is named. */
IN_BENCH(norms_name_what_is_not_finite, both)
{
    for (int64_t i = 0; i < b->layout.tensor_count; i++) {
        const struct tensor *tensor = &b->layout.tensor[i];
        for (int64_t k = 0; k < tensor->size; k++) {
            scalar kept = b->before[tensor->offset + k];
            b->before[tensor->offset + k] = k % 2 ? (scalar)NAN : (scalar)-INFINITY;
            load(b, tensor->layer);
            CHECK(norms_add(&b->norms, b->part, tensor->layer) == &b->shared.tensor[i]);
            b->before[tensor->offset + k] = kept;
        }
    }
}
