#include "model/linear.h"

void linear_forward(
    const struct linear *linear, scalar *y, const scalar *x, const scalar *residual, int64_t rows)
{
    int in = (int)linear->in, out = (int)linear->out;
    bool start = residual || linear->bias;

    if (start)
        linear->kernels->spread(y, residual, linear->bias, rows, out);
    scalar_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, out, in, 1, x, in, linear->weight, in,
        start, y, out);
}

static void weight_gradient(
    const struct linear *linear, const scalar *dy, const scalar *x, int64_t rows, bool more)
{
    int in = (int)linear->in, out = (int)linear->out;

    scalar_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, (int)rows, 1, dy, out, x, in, more,
        linear->dweight, in);
    if (linear->dbias)
        linear->kernels->column_sums(linear->dbias, dy, rows, out, more);
}

static void input_gradient(const struct linear *linear, scalar *dx, const scalar *dy, int64_t rows, bool add)
{
    int in = (int)linear->in, out = (int)linear->out;

    scalar_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, in, out, 1, dy, out, linear->weight, in,
        add, dx, in);
}

void linear_gradient(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *x, int64_t rows, bool add)
{
    weight_gradient(linear, dy, x, rows, false);
    input_gradient(linear, dx, dy, rows, add);
}

void linear_gradient_part(
    const struct linear *linear, scalar *dx, const scalar *dy, const scalar *x, int64_t rows, bool more)
{
    weight_gradient(linear, dy, x, rows, more);
    input_gradient(linear, dx, dy, rows, false);
}
