/* Passes that go block by block against passes through whole networks, bit for bit. */
#include "tests/model/lay_out.h"

#include "model/network/network.h"
#include "tests/model/draw.h"
#include "tests/model/network/arrangements.h"
#include "tests/model/network/model_case.h"

static const int64_t lengths[] = {5, 1, 3};

/* A model for passes block by block, and its plane of weights, beside the whole one. */
struct blockwise_case {
    struct model_case whole;
    struct transformer model;
    struct arena arena;
    bool shared;
    scalar *weights;
    scalar *state[STACKS_MOST]; /* [rows, C] */
    scalar *other; /* [rows, C] */
    double *loss[2]; /* [rows] of both */
    int32_t *predicted[2], *count[2];
};

static void layout(struct blockwise_case *k, struct arena *arena)
{
    const struct architecture *a = &k->whole.model.architecture;
    int64_t rows = k->whole.batch.rows;

    blockwise_layout(&k->model, a, rows, 1, k->shared, arena);
    k->weights = arena_plane(arena, k->model.layout.size, 1);
    k->other = arena_plane(arena, rows, a->width);
    for (int i = 0; i < 2; i++) {
        k->state[i] = arena_plane(arena, rows, a->width);
        k->loss[i] = arena_take(arena, (size_t)rows, sizeof(double));
        k->predicted[i] = arena_take(arena, (size_t)rows, sizeof(int32_t));
        k->count[i] = arena_take(arena, (size_t)(rows * a->heads), sizeof(int32_t));
    }
}

static void begin_case(struct blockwise_case *k, const struct architecture *a, bool shared)
{
    k->shared = shared;
    model_case_init(&k->whole, a, lengths, 3, 5);
    model_case_move(&k->whole, 0.1);
    LAY_OUT(&k->arena, layout(k, &k->arena));
}

static void end_case(struct blockwise_case *k)
{
    arena_release(&k->arena);
    model_case_release(&k->whole);
}

/* Copies the tensors of a block, -1: those outside the blocks, to their places. */
static void load(struct blockwise_case *k, int64_t layer)
{
    const struct weight_layout *from = &k->whole.model.layout, *to = &k->model.layout;

    for (int64_t i = 0; i < from->tensor_count; i++)
        if (from->tensor[i].layer == layer)
            memcpy(k->weights + to->tensor[i].offset, k->whole.weights + from->tensor[i].offset,
                (size_t)from->tensor[i].size * sizeof(scalar));
}

/* Does a state differ from that of the whole network? */
static bool differs(const struct blockwise_case *k, int64_t stack, const scalar *expected)
{
    int64_t rows = transformer_side(&k->model, &k->whole.batch, stack).rows;

    return memcmp(k->state[stack], expected, (size_t)(rows * k->model.architecture.width) * sizeof(scalar));
}

/* Passes another state through what lies before a stack, as a caller may who goes through two networks at
 * once: the stack must read the memory that it is given, and nothing that is left of an earlier pass. */
static void disturb(struct blockwise_case *k, int64_t stack)
{
    const struct stack_form form = architecture_stack(&k->model.architecture, stack - 1);
    int64_t rows = transformer_side(&k->model, &k->whole.batch, stack - 1).rows;

    draw(k->other, rows * k->model.architecture.width, 1, 9);
    load(k, form.end - 1);
    blockwise_block(&k->model, k->weights, &k->whole.batch, form.end - 1, false, NULL, k->other);
    blockwise_finish(&k->model, k->weights, &k->whole.batch, stack - 1, k->other);
}

/* The blocks of a stack: the number of states and counts that differ. */
static int compare_blocks(struct blockwise_case *k, int64_t stack, bool hard)
{
    const struct architecture *a = &k->model.architecture;
    const struct stack_form form = architecture_stack(a, stack);
    int64_t counts = transformer_side(&k->model, &k->whole.batch, stack).rows * a->heads;
    int differ = differs(k, stack, transformer_state(&k->whole.model, stack, 0));

    if (form.cross)
        disturb(k, stack);
    for (int64_t layer = form.begin; layer < form.end; layer++) {
        load(k, layer);
        blockwise_block(&k->model, k->weights, &k->whole.batch, layer, hard,
            form.cross ? k->state[stack - 1] : NULL, k->state[stack]);
        differ += differs(k, stack, transformer_state(&k->whole.model, stack, layer + 1 - form.begin));
        transformer_attended(&k->model, &k->whole.batch, layer, &(struct attended){.count = k->count[0]});
        transformer_attended(
            &k->whole.model, &k->whole.batch, layer, &(struct attended){.count = k->count[1]});
        differ += memcmp(k->count[0], k->count[1], (size_t)counts * sizeof(int32_t)) != 0;
    }
    return differ;
}

static int compare_states(struct blockwise_case *k, bool hard)
{
    int differ = 0;

    transformer_forward(&k->whole.model, k->whole.weights, &k->whole.batch, hard);
    load(k, -1);
    for (int64_t stack = 0; stack < architecture_stacks(&k->model.architecture); stack++) {
        blockwise_embed(&k->model, k->weights, &k->whole.batch, stack, k->state[stack]);
        differ += compare_blocks(k, stack, hard);
        blockwise_finish(&k->model, k->weights, &k->whole.batch, stack, k->state[stack]);
        differ += differs(k, stack, transformer_output(&k->whole.model, stack));
    }
    return differ;
}

/* The loss from the last states that compare_states has left. */
static int compare_losses(struct blockwise_case *k)
{
    const struct batch *batch = &k->whole.batch;
    int64_t last = architecture_stacks(&k->model.architecture) - 1;
    size_t rows = (size_t)batch->rows;
    double loss = blockwise_loss(&k->model, k->weights, batch, k->state[last], k->loss[0], k->predicted[0]);
    double whole =
        transformer_evaluate(&k->whole.model, k->whole.weights, batch, k->loss[1], k->predicted[1]);

    return !(loss == whole) + (memcmp(k->loss[0], k->loss[1], rows * sizeof(double)) != 0) +
           (memcmp(k->predicted[0], k->predicted[1], rows * sizeof(int32_t)) != 0);
}

static void compare(const struct architecture *a)
{
    for (int shared = 0; shared < 2; shared++) {
        struct blockwise_case k;
        begin_case(&k, a, shared);
        int hard = compare_states(&k, true), soft = compare_states(&k, false), losses = compare_losses(&k);
        if (hard + soft + losses)
            arrangement_fail(
                __FILE__, __LINE__, a, shared ? "shared plane" : "full plane", hard + soft + losses);
        end_case(&k);
    }
}

TEST(blockwise_passes)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits += bits < LISTED_ARRANGEMENTS ? 17 : 1) {
        const struct architecture a = arrangement(bits);
        compare(&a);
    }
}

TEST(blockwise_passes_of_measured_networks)
{
    for (int bits = LISTED_ARRANGEMENTS; bits < ARRANGEMENTS; bits++) {
        const struct architecture a = measured_arrangement(bits);
        compare(&a);
    }
}

/* A pass that reads a wrong weight is found. */
TEST(blockwise_check_can_fail)
{
    const struct architecture a = arrangement(0);
    struct blockwise_case k;

    begin_case(&k, &a, false);
    k.whole.weights[k.whole.model.layout.layers_begin] += (scalar)0.5;
    load(&k, 0);
    k.whole.weights[k.whole.model.layout.layers_begin] -= (scalar)0.5;
    transformer_forward(&k.whole.model, k.whole.weights, &k.whole.batch, false);
    load(&k, -1);
    blockwise_embed(&k.model, k.weights, &k.whole.batch, 0, k.state[0]);
    CHECK(!differs(&k, 0, transformer_state(&k.whole.model, 0, 0)));
    blockwise_block(&k.model, k.weights, &k.whole.batch, 0, false, NULL, k.state[0]);
    CHECK(differs(&k, 0, transformer_state(&k.whole.model, 0, 1)));
    end_case(&k);
}
