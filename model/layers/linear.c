#include "model/layers/layers.h"

/* x W^T for a matrix W with the layer's shape. */
static struct product forward_product(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *weight, int64_t rows)
{
    return (struct product){.m = rows,
        .n = linear->out,
        .k = linear->in,
        .a = x,
        .a_stride = linear->in,
        .b = weight,
        .b_stride = linear->in,
        .b_transposed = true,
        .c = y,
        .c_stride = linear->out};
}

void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows, bool relu)
{
    struct product product = forward_product(linear, y, x, linear->weight, rows);

    product.residual = residual;
    product.bias = linear->bias;
    product.relu = relu;
    product_run(linear->team, &product);
}

void linear_tangent(const struct linear *linear, scalar *ty, struct dual x, const scalar *tresidual,
    const scalar *gate, int64_t rows)
{
    struct product of_input = forward_product(linear, ty, x.tangent, linear->weight, rows);
    struct product of_weight = forward_product(linear, ty, x.at, linear->tweight, rows);

    of_input.residual = tresidual;
    of_input.bias = linear->tbias;
    of_input.gate = linear->tweight ? NULL : gate;
    product_run(linear->team, &of_input);
    of_weight.add = true;
    of_weight.gate = gate;
    if (linear->tweight)
        product_run(linear->team, &of_weight);
}

void linear_weight_gradient(
    const struct linear *linear, const scalar *dy, const scalar *x, int64_t rows, bool add)
{
    const struct product product = {.m = linear->out,
        .n = linear->in,
        .k = rows,
        .a = dy,
        .a_stride = linear->out,
        .a_transposed = true,
        .b = x,
        .b_stride = linear->in,
        .c = linear->dweight,
        .c_stride = linear->in,
        .add = add};

    if (!linear->dweight)
        return;
    product_run(linear->team, &product);
    if (linear->dbias)
        column_sums(linear->team, linear->dbias, dy, rows, linear->out, add);
}

void linear_input_gradient(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *gate, int64_t rows, bool add)
{
    const struct product product = {.m = rows,
        .n = linear->in,
        .k = linear->out,
        .a = dy,
        .a_stride = linear->out,
        .b = linear->weight,
        .b_stride = linear->in,
        .c = dx,
        .c_stride = linear->in,
        .gate = gate,
        .add = add};

    product_run(linear->team, &product);
}

/* The gradient is a product of dy and x, so its tangent is the sum of two. The bias depends on dy alone. */
void linear_weight_gradient_tangent(
    const struct linear *linear, struct dual dy, struct dual x, int64_t rows, bool add)
{
    struct linear target = *linear;

    target.dweight = linear->tdweight;
    target.dbias = linear->tdbias;
    linear_weight_gradient(&target, dy.tangent, x.at, rows, add);
    target.dbias = NULL;
    linear_weight_gradient(&target, dy.at, x.tangent, rows, true);
}

void linear_input_gradient_tangent(
    const struct linear *linear, scalar *tdx, struct dual dy, const scalar *gate, int64_t rows, bool add)
{
    struct linear moved = *linear;

    moved.weight = linear->tweight;
    linear_input_gradient(linear, tdx, dy.tangent, moved.weight ? NULL : gate, rows, add);
    if (moved.weight)
        linear_input_gradient(&moved, tdx, dy.at, gate, rows, true);
}
