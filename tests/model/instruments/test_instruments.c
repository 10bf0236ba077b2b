/* Norms and cosines of blocks and stacks, against sums over every scalar. */
#include "tests/model/lay_out.h"

#include <math.h>

#include "model/core/random.h"
#include "model/instruments/instruments.h"

enum { ENCODER_BLOCKS = 2, DECODER_BLOCKS = 3, BLOCKS = ENCODER_BLOCKS + DECODER_BLOCKS };

struct bench {
    struct architecture architecture;
    struct weight_layout layout;
    struct instruments instruments;
    scalar *before, *after;
    struct arena arena;
};

static void lay_out(struct bench *b)
{
    size_t size;

    weight_layout_init(&b->layout, &b->architecture, &b->arena);
    instruments_layout(&b->instruments, &b->layout, &b->architecture, &b->arena);
    size = (size_t)b->layout.size;
    b->before = arena_take(&b->arena, size, sizeof(scalar));
    b->after = arena_take(&b->arena, size, sizeof(scalar));
}

static void bench_init(struct bench *b, enum network network)
{
    *b = (struct bench){.architecture = {.network = network,
                            .vocabulary = 5,
                            .context = 3,
                            .width = 4,
                            .heads = 2,
                            .feedforward = 6,
                            .layers = ENCODER_BLOCKS,
                            .decoder_layers = DECODER_BLOCKS,
                            .biases = BIAS_ALL}};
    LAY_OUT(&b->arena, lay_out(b));
    for (int64_t i = 0; i < b->layout.size; i++) {
        b->before[i] = (scalar)random_normal(1, RANDOM_TEST, (uint64_t)i);
        b->after[i] = b->before[i] + (scalar)random_normal(2, RANDOM_TEST, (uint64_t)i);
    }
}

/* a.b over the tensors of the blocks [begin, end), or over one kind of them. */
static double product(
    const struct bench *b, const scalar *x, const scalar *y, int64_t begin, int64_t end, int kind)
{
    double sum = 0;

    for (int64_t t = 0; t < b->layout.tensor_count; t++) {
        const struct tensor *tensor = &b->layout.tensor[t];
        bool wanted = kind < 0 || (int)tensor->kind == kind;
        for (int64_t i = tensor->offset; wanted && i < tensor->offset + tensor->size; i++)
            sum += tensor->layer >= begin && tensor->layer < end ? (double)x[i] * (double)y[i] : 0;
    }
    return sum;
}

static double norm_of(const struct bench *b, int64_t begin, int64_t end, int kind)
{
    return sqrt(product(b, b->after, b->after, begin, end, kind));
}

static double cosine_of(const struct bench *b, int64_t begin, int64_t end)
{
    return product(b, b->before, b->after, begin, end, -1) /
           sqrt(product(b, b->before, b->before, begin, end, -1) *
                product(b, b->after, b->after, begin, end, -1));
}

TEST(instruments_measure_stacks)
{
    struct state_measures state;
    struct bench b;

    bench_init(&b, NETWORK_ENCODER_DECODER);
    measure_state(&b.instruments, b.before, &state);
    CHECK(isnan(state.stack_direction_cosine[0]) && isnan(state.stack_direction_cosine[1]));
    measure_state(&b.instruments, b.after, &state);
    CHECK_CLOSE(state.stack_norm[0], norm_of(&b, 0, ENCODER_BLOCKS, -1), 1e-6 * state.stack_norm[0]);
    CHECK_CLOSE(state.stack_norm[1], norm_of(&b, ENCODER_BLOCKS, BLOCKS, -1), 1e-6 * state.stack_norm[1]);
    CHECK_CLOSE(state.param_norm, norm_of(&b, 0, BLOCKS, -1), 1e-6 * state.param_norm);
    CHECK_CLOSE(state.stack_direction_cosine[0], cosine_of(&b, 0, ENCODER_BLOCKS), 1e-6);
    CHECK_CLOSE(state.stack_direction_cosine[1], cosine_of(&b, ENCODER_BLOCKS, BLOCKS), 1e-6);
    CHECK_CLOSE(state.direction_cosine, cosine_of(&b, 0, BLOCKS), 1e-6);
    for (int64_t block = 0; block < BLOCKS; block++) {
        const double *tensor = b.instruments.tensor_norm + block * LAYER_TENSOR_COUNT - LAYER_TENSOR_FIRST;
        double cross = norm_of(&b, block, block + 1, TENSOR_CROSS_V);
        CHECK_CLOSE(b.instruments.layer_norm[block], norm_of(&b, block, block + 1, -1), 1e-5);
        CHECK_CLOSE(b.instruments.layer_direction_cosine[block], cosine_of(&b, block, block + 1), 1e-6);
        if (block < ENCODER_BLOCKS)
            CHECK(cross == 0 && isnan(tensor[TENSOR_CROSS_V]));
        else
            CHECK_CLOSE(tensor[TENSOR_CROSS_V], cross, 1e-5);
    }
    arena_release(&b.arena);
}

/* The one stack is the whole. */
TEST(instruments_measure_one_stack)
{
    struct state_measures state;
    struct bench b;

    bench_init(&b, NETWORK_DECODER);
    measure_state(&b.instruments, b.before, &state);
    measure_state(&b.instruments, b.after, &state);
    CHECK(state.stack_norm[0] == state.param_norm);
    CHECK(state.stack_direction_cosine[0] == state.direction_cosine);
    arena_release(&b.arena);
}

/* Gradients of one kind of tensor alone: only these move, and lion's move whole. */
TEST(instruments_measure_reach)
{
    struct optimiser_options options = {.kind = OPTIMISER_LION, .beta1 = 0.9, .beta2 = 0.99};
    struct optimiser optimiser;
    struct state_measures state;
    struct arena arena = {0};
    double taken = 0, full = 0;
    struct bench b;

    bench_init(&b, NETWORK_ENCODER_DECODER);
    LAY_OUT(&arena, optimiser_layout(&optimiser, &options, &b.layout, 1, &arena));
    for (int64_t t = 0; t < b.layout.tensor_count; t++) {
        const struct tensor *tensor = &b.layout.tensor[t];
        bool moves = tensor->kind == TENSOR_W1;
        double norm = norm_of(&b, tensor->layer, tensor->layer + 1, (int)tensor->kind);
        for (int64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
            b.before[i] = moves ? (scalar)1e-9 : 0;
        taken += moves ? norm * sqrt((double)tensor->size) : 0;
        full += tensor->layer >= 0 ? norm * sqrt((double)tensor->size) : 0;
    }
    measure_state(&b.instruments, b.after, &state);
    CHECK_CLOSE(measure_reach(&b.instruments, &optimiser, b.after, b.before, 1, 1, 1e-3), taken / full, 1e-5);
    arena_release(&arena);
    arena_release(&b.arena);
}
