/*
 * Norms over very many narrow rows, as over the queries and keys of every head: values and gradients of rows,
 * and the sums over all rows for gain and bias, against double.
 */
#include "tests/test.h"

#include <stdlib.h>

#include "model/core/random.h"
#include "model/layers/norm.h"
#include "tests/model/kernels/each_level.h"

#ifdef SCALAR_DOUBLE
static const double rounding = 1e-13;
#else
static const double rounding = 5e-5;
#endif

enum { ROWS = 20011, WIDTH_MOST = 64, THREADS_MOST = 3 };

static scalar in[ROWS * WIDTH_MOST], out[ROWS * WIDTH_MOST], dout[ROWS * WIDTH_MOST], din[ROWS * WIDTH_MOST];
static scalar mean[ROWS], scale[ROWS], gain[WIDTH_MOST], bias[WIDTH_MOST], dgain[WIDTH_MOST],
    dbias[WIDTH_MOST];

static double mean_of(const double *x, int64_t width)
{
    double sum = 0;

    for (int64_t c = 0; c < width; c++)
        sum += x[c];
    return sum / (double)width;
}

/* One row; adds what it contributes to the sums over rows. */
static void check_row(const struct norm *norm, int64_t row, double *gain_sum, double *bias_sum)
{
    const bool centred = norm->kind == LAYERNORM;
    const int64_t width = norm->width;
    const scalar *x = in + row * width, *dy = dout + row * width;
    double n[WIDTH_MOST], d[WIDTH_MOST], square[WIDTH_MOST], product[WIDTH_MOST];

    for (int64_t c = 0; c < width; c++)
        n[c] = (double)x[c];
    const double middle = centred ? mean_of(n, width) : 0;
    for (int64_t c = 0; c < width; c++)
        square[c] = (n[c] - middle) * (n[c] - middle);
    const double factor = 1 / sqrt(mean_of(square, width) + 1e-5);
    for (int64_t c = 0; c < width; c++) {
        n[c] = (n[c] - middle) * factor;
        d[c] = (double)gain[c] * (double)dy[c];
        product[c] = n[c] * d[c];
        gain_sum[c] += n[c] * (double)dy[c];
        bias_sum[c] += (double)dy[c];
        CHECK_CLOSE((double)out[row * width + c], n[c] * (double)gain[c] + (centred ? (double)bias[c] : 0),
            rounding * factor);
    }
    const double of_d = centred ? mean_of(d, width) : 0, of_product = mean_of(product, width);
    for (int64_t c = 0; c < width; c++)
        CHECK_CLOSE(
            (double)din[row * width + c], factor * (d[c] - of_d - n[c] * of_product), rounding * factor);
}

static void check_rows(const struct norm *norm)
{
    double gain_sum[WIDTH_MOST] = {0}, bias_sum[WIDTH_MOST] = {0};
    const double sum_rounding = rounding * sqrt(ROWS); /* the size of a sum of as many signs */

    norm_forward(norm, out, in, NULL, ROWS);
    norm_gradient(norm, din, dout, in, ROWS, false);
    for (int64_t row = 0; row < ROWS; row++)
        check_row(norm, row, gain_sum, bias_sum);
    for (int64_t c = 0; c < norm->width; c++) {
        CHECK_CLOSE((double)dgain[c], gain_sum[c], sum_rounding);
        if (norm->dbias)
            CHECK_CLOSE((double)dbias[c], bias_sum[c], sum_rounding);
    }
}

static void check_widths(const struct kernels *kernels)
{
    static scalar scratch[THREADS_MOST * 2 * WIDTH_MOST];

    for (int64_t width = 4; width <= WIDTH_MOST; width *= 2)
        for (enum norm_kind kind = 0; kind < NORM_KIND_COUNT; kind++) {
            const bool shift = norm_table[kind].shift;
            const struct team team = {kernels, 1 + (int)(width / 4 + kind) % 3, 2 * width, scratch, 0};
            const struct norm norm = {.team = &team,
                .kind = kind,
                .epsilon = 1e-5,
                .gain = gain,
                .bias = shift ? bias : NULL,
                .dgain = dgain,
                .dbias = shift ? dbias : NULL,
                .mean = mean,
                .scale = scale,
                .width = width};
            check_rows(&norm);
        }
}

TEST(norm_of_narrow_rows)
{
    for (int64_t i = 0; i < ROWS * WIDTH_MOST; i++) {
        in[i] = (scalar)random_normal(1, RANDOM_TEST, (uint64_t)i);
        dout[i] = (scalar)random_normal(2, RANDOM_TEST, (uint64_t)i);
    }
    for (int64_t c = 0; c < WIDTH_MOST; c++) {
        gain[c] = (scalar)(1 + 0.3 * random_normal(3, RANDOM_TEST, (uint64_t)c));
        bias[c] = (scalar)random_normal(4, RANDOM_TEST, (uint64_t)c);
    }
    each_level(check_widths);
}
