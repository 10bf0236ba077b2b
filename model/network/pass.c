#include "model/network/pass.h"

#include "model/core/check.h"

static scalar *in_plane(const struct pass *pass, scalar *plane, enum tensor_kind kind, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;
    const struct tensor *tensor = &pass->model->layout.tensor[tensor_index(c, kind, layer)];

    INVARIANT(tensor->kind == kind && (tensor->layer == layer || tensor->layer < 0),
        "tensor %d of layer %lld in the place of %d, %lld", (int)tensor->kind, (long long)tensor->layer,
        (int)kind, (long long)layer);
    return plane && tensor->size ? plane + tensor->offset : NULL;
}

const scalar *pass_weight(const struct pass *pass, enum tensor_kind kind, int64_t layer)
{
    return in_plane(pass, (scalar *)pass->weights, kind, layer);
}

scalar *pass_gradient(const struct pass *pass, enum tensor_kind kind, int64_t layer)
{
    return in_plane(pass, pass->gradient, kind, layer);
}

struct linear pass_linear(
    const struct pass *pass, enum tensor_kind matrix, enum tensor_kind bias, int64_t layer, int64_t count)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct linear){
        .team = &pass->a->team,
        .weight = pass_weight(pass, matrix, layer),
        .bias = pass_weight(pass, bias, layer),
        .dweight = pass_gradient(pass, matrix, layer),
        .dbias = pass_gradient(pass, bias, layer),
        .in = extent_length(c, tensor_table[matrix].columns),
        .out = count * extent_length(c, tensor_table[matrix].rows),
    };
}

struct norm pass_norm(const struct pass *pass, enum tensor_kind gain, enum tensor_kind shift, int64_t layer,
    scalar *mean, scalar *scale)
{
    return (struct norm){
        .team = &pass->a->team,
        .kind = pass->model->architecture.norm,
        .gain = pass_weight(pass, gain, layer),
        .bias = pass_weight(pass, shift, layer),
        .dgain = pass_gradient(pass, gain, layer),
        .dbias = pass_gradient(pass, shift, layer),
        .mean = mean,
        .scale = scale,
        .width = pass->model->architecture.width,
    };
}
