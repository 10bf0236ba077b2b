/*
 * The transformer: embeddings, L blocks of sub-layers (see sublayer.c), and the output layer with its
 * cross-entropy. Rows are the tokens of all sequences, packed; matrices are row-major; weights are [out, in].
 */
#include "model/network/transformer.h"

#include <string.h>

#include "model/core/check.h"
#include "model/network/attention.h"
#include "model/network/output.h"
#include "model/network/stack.h"

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena)
{
    INVARIANT(architecture->init_scale > 0 && architecture->residual_scale > 0,
        "init_scale %g, residual_scale %g", architecture->init_scale, architecture->residual_scale);
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout(architecture, max_rows, threads, tangents, arena);
    weight_layout_init(&model->layout, architecture, arena);
}

const scalar *transformer_state(const struct transformer *model, int64_t depth)
{
    const struct activations *a = model->activations;

    if (depth == 0)
        return a->embedded;
    const struct block *block = &a->block[depth - 1];
    return block->sublayer[block->sublayers - 1].out;
}

const scalar *transformer_final(const struct transformer *model)
{
    const struct architecture *c = &model->architecture;

    return c->norm_placement == NORM_PRE ? model->activations->final : transformer_state(model, c->layers);
}

/* A forward pass with nothing more. */
static struct pass pass_of(const struct transformer *model, const scalar *weights, const struct batch *batch)
{
    return (struct pass){.model = model, .a = model->activations, .batch = batch, .weights = weights};
}

static size_t state_size(const struct transformer *model, const struct batch *batch)
{
    return (size_t)(batch->rows * model->architecture.width) * sizeof(scalar);
}

double transformer_evaluate(struct transformer *model, const scalar *weights, const struct batch *batch,
    double *row_loss, int32_t *predicted)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.row_loss = row_loss;
    pass.predicted = predicted;
    return output_loss(&pass, (struct dual){stack_forward(&pass), NULL});
}

double transformer_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *gradient)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.back = true;
    pass.gradient = gradient;
    double loss = output_loss(&pass, (struct dual){stack_forward(&pass), NULL});
    stack_gradient(&pass);
    return loss;
}

void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.hard = hard;
    stack_forward(&pass);
}

void transformer_forward_from(
    struct transformer *model, const scalar *weights, const struct batch *batch, const scalar *state)
{
    struct pass pass = pass_of(model, weights, batch);

    memcpy(pass.a->embedded, state, state_size(model, batch));
    stack_forward_blocks(&pass);
}

void transformer_attended(struct transformer *model, const struct batch *batch, int64_t layer, int32_t *count)
{
    const struct pass pass = pass_of(model, NULL, batch);
    const struct block *block = &pass.a->block[layer];

    for (int64_t i = 0; i < block->sublayers; i++)
        if (block->sublayer[i].row == &sublayer_table[SUBLAYER_ATTENTION])
            attention_attended(&pass, &block->sublayer[i], count);
}

void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits)
{
    const struct pass pass = pass_of(model, weights, batch);
    struct linear output = output_linear(&pass);

    linear_forward(&output, logits, stack_forward(&pass), NULL, batch->rows, false);
}

double transformer_hessian_product(struct transformer *model, const scalar *weights,
    const struct batch *batch, const scalar *direction, scalar *product, double *slope)
{
    struct pass pass = pass_of(model, weights, batch);

    INVARIANT(pass.a->tangent, "a model of %lld rows without tangents", (long long)model->max_rows);
    *slope = 0;
    pass.back = true;
    pass.tweights = direction;
    pass.tgradient = product;
    pass.tloss = slope;
    const scalar *x = stack_forward(&pass);
    double loss = output_loss(&pass, (struct dual){x, stack_tangent(&pass)});
    stack_gradient(&pass);
    return loss;
}

double transformer_output_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *dstate)
{
    struct pass pass = pass_of(model, weights, batch);

    pass.back = true;
    double loss = output_loss(&pass, (struct dual){transformer_final(model), NULL});
    stack_final_gradient(&pass);
    memcpy(dstate, pass.a->dstream, state_size(model, batch));
    return loss;
}

void transformer_block_gradient(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *dstate)
{
    const struct pass pass = pass_of(model, weights, batch);

    memcpy(pass.a->dstream, dstate, state_size(model, batch));
    stack_block_gradient(&pass, layer);
    memcpy(dstate, pass.a->dstream, state_size(model, batch));
}

void transformer_block_tangent(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *tstate)
{
    const struct pass pass = pass_of(model, weights, batch);

    INVARIANT(pass.a->tangent, "a model of %lld rows without tangents", (long long)model->max_rows);
    memcpy(tstate, stack_block_tangent(&pass, layer, tstate), state_size(model, batch));
}
