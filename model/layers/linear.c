#include "model/layers/linear.h"

#include "model/kernels/product.h"
#include "model/layers/rowwise.h"

void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows, bool relu)
{
    const struct product product = {.m = rows,
        .n = linear->out,
        .k = linear->in,
        .a = x,
        .a_stride = linear->in,
        .b = linear->weight,
        .b_stride = linear->in,
        .b_transposed = true,
        .c = y,
        .c_stride = linear->out,
        .residual = residual,
        .bias = linear->bias,
        .relu = relu};

    product_run(linear->team, &product);
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
