/*
 * A pass over a batch: which rows a stack reads, where its states lie, and the layers that sub-layers ask
 * for, with weights, gradients and tangents of the plane in use.
 */
#include "model/network/inside.h"

#include "model/core/check.h"

struct dual stack_state(const struct activations *a, int64_t stack, int64_t depth)
{
    if (depth == 0)
        return (struct dual){a->stack[stack].embedded, a->tangent ? a->tangent->stack[stack].embedded : NULL};
    const struct block *block = &a->block[a->stack[stack].form.begin + depth - 1];
    const struct sublayer *s = &block->sublayer[block->sublayers - 1];
    return (struct dual){s->out, s->tangent ? s->tangent->out : NULL};
}

struct dual stack_output(const struct activations *a, int64_t stack)
{
    const struct stack *of = &a->stack[stack];

    if (of->final)
        return (struct dual){of->final, a->tangent ? a->tangent->stack[stack].final : NULL};
    return stack_state(a, stack, of->form.end - of->form.begin);
}

struct packed transformer_side(const struct transformer *model, const struct batch *batch, int64_t stack)
{
    if (model->activations->stack[stack].form.source)
        return (struct packed){
            batch->sequences, batch->source_rows, batch->source_start, batch->source_tokens};
    return (struct packed){batch->sequences, batch->rows, batch->start, batch->tokens};
}

struct pass pass_in(const struct pass *pass, int64_t stack)
{
    struct pass in = *pass;

    in.stack = stack;
    in.packed = transformer_side(pass->model, pass->batch, stack);
    INVARIANT(in.packed.rows <= pass->model->max_rows, "%lld rows in a model of %lld",
        (long long)in.packed.rows, (long long)pass->model->max_rows);
    if (!pass->a->stack[stack].form.cross)
        return in;
    in.source = transformer_side(pass->model, pass->batch, stack - 1);
    in.memory = stack_output(pass->a, stack - 1);
    if (!pass->tweights)
        in.memory.tangent = NULL;
    return in;
}

const struct stack *pass_stack(const struct pass *pass)
{
    return &pass->a->stack[pass->stack];
}

const struct stack *pass_stack_tangent(const struct pass *pass)
{
    return pass->a->tangent ? &pass->a->tangent->stack[pass->stack] : NULL;
}

scalar *pass_gradient(const struct pass *pass, scalar *plane, enum tensor_kind kind, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;
    const struct tensor *tensor = &pass->model->layout.tensor[tensor_index(c, kind, layer)];

    INVARIANT(tensor->kind == kind && (tensor->layer == layer || tensor->layer < 0),
        "tensor %d of layer %lld in the place of %d, %lld", (int)tensor->kind, (long long)tensor->layer,
        (int)kind, (long long)layer);
    return plane && tensor->size ? plane + tensor->offset : NULL;
}

const scalar *pass_weight(const struct pass *pass, const scalar *plane, enum tensor_kind kind, int64_t layer)
{
    return pass_gradient(pass, (scalar *)plane, kind, layer);
}

struct linear pass_linear(
    const struct pass *pass, enum tensor_kind matrix, enum tensor_kind bias, int64_t layer, int64_t count)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct linear){
        .team = &pass->a->team,
        .weight = pass_weight(pass, pass->weights, matrix, layer),
        .bias = pass_weight(pass, pass->weights, bias, layer),
        .dweight = pass_gradient(pass, pass->gradient, matrix, layer),
        .dbias = pass_gradient(pass, pass->gradient, bias, layer),
        .tweight = pass_weight(pass, pass->tweights, matrix, layer),
        .tbias = pass_weight(pass, pass->tweights, bias, layer),
        .tdweight = pass_gradient(pass, pass->tgradient, matrix, layer),
        .tdbias = pass_gradient(pass, pass->tgradient, bias, layer),
        .in = extent_length(c, tensor_table[matrix].columns),
        .out = count * extent_length(c, tensor_table[matrix].rows),
    };
}

scalar pass_score_scale(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    int64_t depth = architecture_depth(c);

    switch (c->score_scale) {
    case SCORE_SQRT:
        return heads_scale(depth);
    case SCORE_DEPTH:
        return 1 / (scalar)depth;
    case SCORE_NONE:
        break;
    }
    return 1;
}

struct norm pass_norm(const struct pass *pass, enum tensor_kind gain, enum tensor_kind shift, int64_t layer,
    scalar *mean, scalar *scale)
{
    return (struct norm){
        .team = &pass->a->team,
        .kind = pass->model->architecture.norm,
        .gain = pass_weight(pass, pass->weights, gain, layer),
        .bias = pass_weight(pass, pass->weights, shift, layer),
        .dgain = pass_gradient(pass, pass->gradient, gain, layer),
        .dbias = pass_gradient(pass, pass->gradient, shift, layer),
        .tgain = pass_weight(pass, pass->tweights, gain, layer),
        .tbias = pass_weight(pass, pass->tweights, shift, layer),
        .tdgain = pass_gradient(pass, pass->tgradient, gain, layer),
        .tdbias = pass_gradient(pass, pass->tgradient, shift, layer),
        .epsilon = architecture_norm_epsilon(&pass->model->architecture),
        .wide = pass->wide,
        .mean = mean,
        .scale = scale,
        .width = extent_length(&pass->model->architecture, tensor_table[gain].columns),
    };
}
