/*
 * The transformer: embeddings, one or two stacks of blocks of sub-layers (see sublayer.c), and the output
 * layer with its cross-entropy. Rows are the tokens of all sequences, packed; matrices are row-major; weights
 * are [out, in].
 */
#include "model/network/inside.h"

#include <string.h>

#include "model/core/check.h"

static void check_gradients(const struct architecture *architecture)
{
    INVARIANT(architecture_has_gradients(architecture),
        "positions %d, types %lld, embedding_norm %d, transform %d", (int)architecture->positions,
        (long long)architecture->token_types, architecture->embedding_norm, architecture->transform);
}

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena)
{
    INVARIANT(architecture->init_scale > 0 && architecture->residual_scale > 0,
        "init_scale %g, residual_scale %g", architecture->init_scale, architecture->residual_scale);
    if (tangents)
        check_gradients(architecture);
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout(architecture, max_rows, threads, false, tangents, arena);
    weight_layout_init(&model->layout, architecture, false, arena);
}

const scalar *transformer_state(const struct transformer *model, int64_t stack, int64_t depth)
{
    return stack_state(model->activations, stack, depth).at;
}

const scalar *transformer_output(const struct transformer *model, int64_t stack)
{
    return stack_output(model->activations, stack).at;
}

const scalar *transformer_final(const struct transformer *model)
{
    return transformer_output(model, model->activations->stacks - 1);
}

/* A forward pass with nothing more. */
static struct pass pass_of(const struct transformer *model, const scalar *weights, const struct batch *batch)
{
    return (struct pass){.model = model, .a = model->activations, .batch = batch, .weights = weights};
}

/* The same in a stack, or in that of a block. */
static struct pass pass_in_stack(
    const struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack)
{
    const struct pass pass = pass_of(model, weights, batch);

    return pass_in(&pass, stack);
}

static struct pass pass_in_block(
    const struct transformer *model, const scalar *weights, const struct batch *batch, int64_t layer)
{
    return pass_in_stack(model, weights, batch, architecture_stack_of(&model->architecture, layer));
}

/* Bytes of a state of the stack. */
static size_t state_size(const struct pass *pass)
{
    return (size_t)(pass->packed.rows * pass->model->architecture.width) * sizeof(scalar);
}

double transformer_evaluate(struct transformer *model, const scalar *weights, const struct batch *batch,
    double *row_loss, int32_t *predicted)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.row_loss = row_loss;
    pass.predicted = predicted;
    return output_loss(&pass, (struct dual){.at = stacks_forward(&pass)});
}

double transformer_trained_loss(struct transformer *model, const scalar *weights, const struct batch *batch)
{
    struct pass pass = pass_of(model, weights, batch);
    double penalty = 0;

    pass.penalty = &penalty;
    double loss = output_loss(&pass, (struct dual){.at = stacks_forward(&pass)});
    return loss + penalty;
}

double transformer_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *gradient)
{
    struct pass pass = pass_of(model, weights, batch);

    check_gradients(&model->architecture);
    pass.back = true;
    pass.gradient = gradient;
    double loss = output_loss(&pass, (struct dual){.at = stacks_forward(&pass)});
    stacks_gradient(&pass);
    return loss;
}

void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.hard = hard;
    stacks_forward(&pass);
}

void transformer_forward_from(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t stack, const scalar *state)
{
    const struct pass pass = pass_in_stack(model, weights, batch, stack);

    memcpy(pass_stack(&pass)->embedded, state, state_size(&pass));
    stack_forward_blocks(&pass);
}

void transformer_attended(
    struct transformer *model, const struct batch *batch, int64_t layer, const struct attended *attended)
{
    const struct pass pass = pass_in_block(model, NULL, batch, layer);
    const struct block *block = &pass.a->block[layer];

    for (int64_t i = 0; i < block->sublayers; i++)
        if (block->sublayer[i].row->attended)
            block->sublayer[i].row->attended(&pass, &block->sublayer[i], attended);
}

void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits)
{
    const struct pass pass = pass_of(model, weights, batch);

    output_logits(&pass, logits, stacks_forward(&pass));
}

double transformer_hessian_product(struct transformer *model, const scalar *weights,
    const struct batch *batch, const scalar *direction, scalar *product, double *slope)
{
    struct pass pass = pass_of(model, weights, batch);

    check_gradients(&model->architecture);
    INVARIANT(pass.a->tangent, "a model of %lld rows without tangents", (long long)model->max_rows);
    *slope = 0;
    pass.back = true;
    pass.tweights = direction;
    pass.tgradient = product;
    pass.tloss = slope;
    const scalar *x = stacks_forward(&pass);
    double loss = output_loss(&pass, (struct dual){x, stacks_tangent(&pass)});
    stacks_gradient(&pass);
    return loss;
}

double transformer_output_gradient(struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t stack, scalar *dstate)
{
    struct pass pass = pass_of(model, weights, batch);

    check_gradients(&model->architecture);
    pass.back = true;
    double loss = output_loss(&pass, (struct dual){.at = transformer_final(model)});
    stacks_output_gradient(&pass, stack);
    pass = pass_in(&pass, stack);
    memcpy(dstate, pass.a->dstream, state_size(&pass));
    return loss;
}

void transformer_block_gradient(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *dstate)
{
    const struct pass pass = pass_in_block(model, weights, batch, layer);

    check_gradients(&model->architecture);
    memcpy(pass.a->dstream, dstate, state_size(&pass));
    stack_block_gradient(&pass, layer);
    memcpy(dstate, pass.a->dstream, state_size(&pass));
}

void transformer_block_tangent(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *tstate)
{
    const struct pass pass = pass_in_block(model, weights, batch, layer);

    check_gradients(&model->architecture);
    INVARIANT(pass.a->tangent, "a model of %lld rows without tangents", (long long)model->max_rows);
    const struct dual x = {stack_state(pass.a, pass.stack, layer - pass_stack(&pass)->form.begin).at, tstate};
    memcpy(tstate, stack_block_forward(&pass, layer, x).tangent, state_size(&pass));
}

/* ---- block by block ---- */

void blockwise_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool shared, struct arena *arena)
{
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout(architecture, max_rows, threads, true, false, arena);
    weight_layout_init(&model->layout, architecture, shared, arena);
}

void blockwise_embed(
    struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack, scalar *state)
{
    struct pass pass = pass_in_stack(model, weights, batch, stack);

    pass.wide = true;
    stack_embed(&pass, state);
}

void blockwise_block(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, bool hard, const scalar *memory, scalar *state)
{
    struct pass pass = pass_in_block(model, weights, batch, layer);

    INVARIANT(!pass_stack(&pass)->form.cross == !memory, "block %lld %s a memory", (long long)layer,
        memory ? "has" : "lacks");
    pass.wide = true;
    pass.hard = hard;
    pass.memory.at = memory;
    stack_place(&pass);
    memcpy(state, stack_block_forward(&pass, layer, (struct dual){.at = state}).at, state_size(&pass));
}

void blockwise_finish(
    struct transformer *model, const scalar *weights, const struct batch *batch, int64_t stack, scalar *state)
{
    struct pass pass = pass_in_stack(model, weights, batch, stack);

    if (!pass_stack(&pass)->final)
        return;
    pass.wide = true;
    stack_finish(&pass, (struct dual){.at = state});
    memcpy(state, pass_stack(&pass)->final, state_size(&pass));
}

double blockwise_loss(struct transformer *model, const scalar *weights, const struct batch *batch,
    const scalar *state, double *row_loss, int32_t *predicted)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.wide = true;
    pass.row_loss = row_loss;
    pass.predicted = predicted;
    return output_loss(&pass, (struct dual){.at = state});
}
