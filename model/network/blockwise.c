#include "model/network/inside.h"

#include <string.h>

#include "model/core/check.h"

void blockwise_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool shared, struct arena *arena)
{
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout_shared(architecture, max_rows, threads, arena);
    if (shared)
        weight_layout_init_shared(&model->layout, architecture, arena);
    else
        weight_layout_init(&model->layout, architecture, arena);
}

static struct pass pass_in_stack(
    const struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack)
{
    const struct pass pass = {
        .model = model, .a = model->activations, .batch = batch, .weights = weights, .wide = true};

    return pass_in(&pass, stack);
}

static size_t state_size(const struct pass *pass)
{
    return (size_t)(pass->packed.rows * pass->model->architecture.width) * sizeof(scalar);
}

void blockwise_embed(
    struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack, scalar *state)
{
    const struct pass pass = pass_in_stack(model, weights, batch, stack);

    stack_embed(&pass, state);
}

void blockwise_block(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, bool hard, const scalar *memory, scalar *state)
{
    struct pass pass =
        pass_in_stack(model, weights, batch, architecture_stack_of(&model->architecture, layer));
    const struct block *block = &pass.a->block[layer];
    const scalar *x = state;

    INVARIANT(!pass_stack(&pass)->form.cross == !memory, "block %lld %s a memory", (long long)layer,
        memory ? "has" : "lacks");
    pass.hard = hard;
    pass.memory.at = memory;
    stack_place(&pass);
    for (int64_t i = 0; i < block->sublayers; i++) {
        sublayer_forward(&pass, &block->sublayer[i], x);
        x = block->sublayer[i].out;
    }
    memcpy(state, x, state_size(&pass));
}

void blockwise_finish(
    struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack, scalar *state)
{
    const struct pass pass = pass_in_stack(model, weights, batch, stack);

    if (!pass_stack(&pass)->final)
        return;
    stack_finish(&pass, state);
    memcpy(state, pass_stack(&pass)->final, state_size(&pass));
}

double blockwise_loss(struct transformer *model, const scalar *weights, const struct batch *batch,
    const scalar *state, double *row_loss, int32_t *predicted)
{
    const struct pass pass = {.model = model,
        .a = model->activations,
        .batch = batch,
        .weights = weights,
        .wide = true,
        .row_loss = row_loss,
        .predicted = predicted};

    return output_loss(&pass, (struct dual){state, NULL});
}
