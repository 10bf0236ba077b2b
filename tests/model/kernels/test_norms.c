/* Norms of rows and their gradients at every vector level against plain formulas, and their manners with NaN.
 */
#include "tests/test.h"

#include <string.h>

#include "tests/model/kernels/draws.h"
#include "tests/model/kernels/each_level.h"

/* A norm of rows x width, out of the same draws whatever the size. */
struct norm_case {
    int64_t rows, width;
    bool centred; /* LayerNorm, else RMSNorm */
    bool bias, add;
    scalar in[COUNT], dout[COUNT], out[COUNT], din[COUNT], residual[COUNT];
    scalar gain[COUNT], shift[COUNT], dgain[COUNT], dbias[COUNT], mean[COUNT], scale[COUNT];
};

static void norm_draw(struct norm_case *k)
{
    draw(k->in, 2, 11);
    draw(k->dout, 1, 12);
    draw(k->gain, 1, 13);
    draw(k->shift, 1, 14);
    draw(k->residual, 1, 15);
    memcpy(k->din, k->residual, sizeof(k->din));
}

static double row_mean(const scalar *row, int64_t width)
{
    double sum = 0;

    for (int64_t c = 0; c < width; c++)
        sum += (double)row[c];
    return sum / (double)width;
}

static double row_scale(const scalar *row, int64_t width, double mean)
{
    double square = 0;

    for (int64_t c = 0; c < width; c++)
        square += ((double)row[c] - mean) * ((double)row[c] - mean);
    return 1 / sqrt(square / (double)width + 1e-5);
}

/* One row of out and din, and what it adds to dgain [width]. */
static void check_norm_row(const struct norm_case *k, int64_t r, double *dgain)
{
    const scalar *in = k->in + r * k->width, *dout = k->dout + r * k->width;
    double mean = k->centred ? row_mean(in, k->width) : 0, scale = row_scale(in, k->width, mean), sum = 0,
           product = 0;

    CHECK_CLOSE((double)k->mean[r], mean, rounding);
    CHECK_CLOSE((double)k->scale[r], scale, rounding * 20 * scale);
    for (int64_t c = 0; c < k->width; c++) {
        double n = ((double)in[c] - mean) * scale, d = (double)k->gain[c] * (double)dout[c];
        double out = n * (double)k->gain[c] + (k->bias ? (double)k->shift[c] : 0);
        out += k->add ? (double)k->residual[r * k->width + c] : 0;
        CHECK_CLOSE((double)k->out[r * k->width + c], out, rounding * 20);
        sum += k->centred ? d / (double)k->width : 0;
        product += d * n / (double)k->width;
        dgain[c] += n * (double)dout[c];
    }
    for (int64_t c = 0; c < k->width; c++) {
        double n = ((double)in[c] - mean) * scale, d = (double)k->gain[c] * (double)dout[c];
        double din = scale * (d - sum - n * product);
        din += k->add ? (double)k->residual[r * k->width + c] : 0;
        CHECK_CLOSE((double)k->din[r * k->width + c], din, rounding * 20 * (1 + scale));
    }
}

static void check_norm_size(const struct kernels *kernels, bool centred, int64_t rows, int64_t width)
{
    static struct norm_case k;
    double dgain[COUNT] = {0};
    scalar sums[COUNT];

    k = (struct norm_case){
        .rows = rows, .width = width, .centred = centred, .bias = width % 3, .add = width % 2};
    norm_draw(&k);
    (centred ? kernels->layernorm : kernels->rmsnorm)(k.out, k.in, k.add ? k.residual : NULL, k.gain,
        k.bias ? k.shift : NULL, (scalar)1e-5, k.mean, k.scale, rows, width);
    (centred ? kernels->layernorm_gradient : kernels->rmsnorm_gradient)(
        k.din, k.dgain, k.bias ? k.dbias : NULL, k.dout, k.in, k.gain, k.mean, k.scale, rows, width, k.add);
    CHECK(k.out[rows * width] == 0 && k.mean[rows] == 0 && k.scale[rows] == 0 && k.dgain[width] == 0);
    CHECK(k.din[rows * width] == k.residual[rows * width]);
    for (int64_t r = 0; r < rows; r++)
        check_norm_row(&k, r, dgain);
    draw(sums, 1, 16);
    kernels->column_sums(sums, k.dout, width, rows, width, k.add);
    for (int64_t c = 0; c < width; c++) {
        double sum = 0;
        for (int64_t r = 0; r < rows; r++)
            sum += (double)k.dout[r * width + c];
        CHECK_CLOSE((double)k.dgain[c], dgain[c], rounding * 20);
        CHECK_CLOSE((double)k.dbias[c], k.bias ? sum : 0, rounding * 20);
        sum += k.add ? random_normal(16, RANDOM_TEST, (uint64_t)c) : 0;
        CHECK_CLOSE((double)sums[c], sum, rounding * 20);
    }
}

EACH_LEVEL(kernels_norms)
{
    for (int64_t width = 1; width <= 70; width++) {
        check_norm_size(kernels, true, 1 + width % 11, width);
        check_norm_size(kernels, false, 1 + width % 11, width);
    }
}

/* Rows that are NaN, or too long to be squared, are NaN, and so are their gradients and those of the tensors;
 * their neighbours are left alone. */
static void check_norm_ends(const struct kernels *kernels, bool centred)
{
    enum { ROWS = 9, WIDTH = 19 };
    static struct norm_case k;

    norm_draw(&k);
    k.in[1 * WIDTH + 3] = NAN;
    k.in[6 * WIDTH + 2] = sizeof(scalar) == 4 ? (scalar)1e25 : (scalar)1e200;
    (centred ? kernels->layernorm : kernels->rmsnorm)(
        k.out, k.in, NULL, k.gain, NULL, (scalar)1e-5, k.mean, k.scale, ROWS, WIDTH);
    (centred ? kernels->layernorm_gradient : kernels->rmsnorm_gradient)(
        k.din, k.dgain, NULL, k.dout, k.in, k.gain, k.mean, k.scale, ROWS, WIDTH, false);
    for (int r = 0; r < ROWS; r++) {
        bool bad = r == 1 || r == 6;
        CHECK(isnan((double)k.scale[r]) == bad);
        for (int c = 0; c < WIDTH; c++) {
            CHECK(isnan((double)k.out[r * WIDTH + c]) == bad);
            CHECK(isnan((double)k.din[r * WIDTH + c]) == bad);
        }
    }
    for (int c = 0; c < WIDTH; c++)
        CHECK(isnan((double)k.dgain[c]));
}

EACH_LEVEL(kernels_norms_let_nan_through)
{
    check_norm_ends(kernels, true);
    check_norm_ends(kernels, false);
}

/* A row of equal values has the norm 0, however large they are; the gradient may be written over dout. */
EACH_LEVEL(kernels_norm_of_a_constant_row)
{
    const scalar large = sizeof(scalar) == 4 ? (scalar)0x1p121 : (scalar)0x1p1020;

    for (int64_t width = 1; width <= 40; width++) {
        static struct norm_case k;
        norm_draw(&k);
        for (int64_t c = 0; c < width; c++)
            k.in[width + c] = large / (scalar)(1 << 6);
        kernels->layernorm(k.out, k.in, NULL, k.gain, NULL, (scalar)1e-12, k.mean, k.scale, 5, width);
        kernels->layernorm_gradient(
            k.din, k.dgain, k.dbias, k.dout, k.in, k.gain, k.mean, k.scale, 5, width, false);
        kernels->layernorm_gradient(
            k.dout, k.dgain, k.dbias, k.dout, k.in, k.gain, k.mean, k.scale, 5, width, false);
        CHECK(memcmp(k.dout, k.din, (size_t)(5 * width) * sizeof(scalar)) == 0);
        for (int64_t c = 0; c < 5 * width; c++)
            CHECK(isfinite((double)k.din[c]));
    }
}
