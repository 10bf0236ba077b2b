/* y = x W^T + b and its gradients as products; where the input has a tangent, that of the result as well. */
#include "model/layers/layers.h"

void linear_forward(const struct linear *linear, scalar *y, struct dual x, const scalar *residual,
    const scalar *relu, int64_t rows)
{
    struct product product = {.m = rows,
        .n = linear->out,
        .k = linear->in,
        .a = x.at,
        .a_stride = linear->in,
        .b = linear->weight,
        .b_stride = linear->in,
        .b_transposed = true,
        .c = y,
        .c_stride = linear->out,
        .residual = residual,
        .bias = linear->bias,
        .relu = relu != NULL};

    if (x.tangent) {
        product.a = x.tangent;
        product.bias = linear->tbias;
        product.relu = false;
        product.gate = linear->tweight ? NULL : relu;
    }
    product_run(linear->team, &product);
    if (!x.tangent || !linear->tweight)
        return;
    product.a = x.at;
    product.b = linear->tweight;
    product.add = true;
    product.residual = product.bias = NULL;
    product.gate = relu;
    product_run(linear->team, &product);
}

/* The gradient is a product of dy and x, so its tangent is the sum of two. The bias depends on dy alone. */
void linear_weight_gradient(
    const struct linear *linear, struct dual dy, struct dual x, int64_t rows, bool add)
{
    scalar *dbias = dy.tangent ? linear->tdbias : linear->dbias;
    struct product product = {.m = linear->out,
        .n = linear->in,
        .k = rows,
        .a = dy.tangent ? dy.tangent : dy.at,
        .a_stride = linear->out,
        .a_transposed = true,
        .b = x.at,
        .b_stride = linear->in,
        .c = dy.tangent ? linear->tdweight : linear->dweight,
        .c_stride = linear->in,
        .add = add};

    if (!product.c)
        return;
    product_run(linear->team, &product);
    if (dbias)
        column_sums(linear->team, dbias, product.a, rows, linear->out, add);
    if (!dy.tangent)
        return;
    product.a = dy.at;
    product.b = x.tangent;
    product.add = true;
    product_run(linear->team, &product);
}

void linear_input_gradient(
    const struct linear *linear, scalar *dx, struct dual dy, const scalar *gate, int64_t rows, bool add)
{
    const scalar *tweight = dy.tangent ? linear->tweight : NULL;
    struct product product = {.m = rows,
        .n = linear->in,
        .k = linear->out,
        .a = dy.tangent ? dy.tangent : dy.at,
        .a_stride = linear->out,
        .b = linear->weight,
        .b_stride = linear->in,
        .c = dx,
        .c_stride = linear->in,
        .gate = tweight ? NULL : gate,
        .add = add};

    product_run(linear->team, &product);
    if (!tweight)
        return;
    product.a = dy.at;
    product.b = tweight;
    product.gate = gate;
    product.add = true;
    product_run(linear->team, &product);
}
