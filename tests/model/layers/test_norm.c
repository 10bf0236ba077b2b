/*
 * Norms of rows whose variance overflows a float: as those of a smaller row, if the norm is wide; else NaN.
 * Of very many narrow rows, as over the queries and keys of every head: the sums over all rows for gain and
 * bias. test_kernels.c has the values and gradients of rows.
 */
#include "tests/model/draw.h"

#include "model/core/random.h"
#include "model/layers/layers.h"
#include "tests/model/kernels/each_level.h"

enum { ROWS = 7, WIDTH = 21, LARGE = 2, BROKEN = 4, ENDLESS = 5 };

static scalar in[ROWS * WIDTH], large[ROWS * WIDTH], gain[WIDTH], bias[WIDTH];
static scalar plain[ROWS * WIDTH], wide[ROWS * WIDTH], mean[ROWS], scale[ROWS];

/* 2^70 and its square's sum over a row, which no float holds; doubles do. */
static const double factor = 0x1p70;

static void check_kind(const struct team *team, enum norm_kind kind)
{
    struct norm norm = {.team = team,
        .kind = kind,
        .epsilon = 1e-30,
        .gain = gain,
        .bias = bias,
        .mean = mean,
        .scale = scale,
        .width = WIDTH};

    norm_forward(&norm, plain, (struct dual){.at = large}, NULL, ROWS);
    if (sizeof(scalar) == sizeof(float))
        CHECK(isnan((double)plain[LARGE * WIDTH]));
    norm.wide = true;
    norm_forward(&norm, wide, (struct dual){.at = large}, NULL, ROWS);
    for (int row = 0; row < ROWS; row++)
        if (row == BROKEN || row == ENDLESS)
            CHECK(isnan((double)wide[row * WIDTH]) && isnan((double)wide[row * WIDTH + WIDTH - 1]));
        else if (row != LARGE)
            CHECK(memcmp(plain + row * WIDTH, wide + row * WIDTH, WIDTH * sizeof(*wide)) == 0);
    norm_forward(&norm, plain, (struct dual){.at = in}, NULL, ROWS);
    for (int c = 0; c < WIDTH; c++)
        CHECK_CLOSE((double)wide[LARGE * WIDTH + c], (double)plain[LARGE * WIDTH + c], 1e-5);
}

EACH_LEVEL(norm_of_wide_rows)
{
    static scalar scratch[2 * WIDTH];
    const struct team team = {kernels, 1, 2 * WIDTH, scratch, 0};

    draw(in, ROWS * WIDTH, 1, 1);
    for (int i = 0; i < ROWS * WIDTH; i++)
        large[i] = i / WIDTH == LARGE ? (scalar)(factor * (double)in[i]) : in[i];
    draw(gain, WIDTH, 0.3, 3);
    draw(bias, WIDTH, 1, 4);
    for (int c = 0; c < WIDTH; c++)
        gain[c] += 1;
    large[BROKEN * WIDTH + 3] = (scalar)NAN;
    large[ENDLESS * WIDTH + 3] = (scalar)INFINITY;
    for (enum norm_kind kind = 0; kind < NO_NORM; kind++)
        check_kind(&team, kind);
}

enum { MANY = 20011, NARROW_MOST = 64, THREADS_MOST = 3 };

/* What one row of `width` contributes to the sum for each gain. */
static void add_row(const scalar *x, const scalar *dy, int64_t width, bool centred, double *sum)
{
    double middle = 0, square = 0;

    for (int64_t c = 0; c < width && centred; c++)
        middle += (double)x[c] / (double)width;
    for (int64_t c = 0; c < width; c++)
        square += ((double)x[c] - middle) * ((double)x[c] - middle) / (double)width;
    for (int64_t c = 0; c < width; c++)
        sum[c] += ((double)x[c] - middle) / sqrt(square + 1e-5) * (double)dy[c];
}

static void check_sums(const struct norm *norm, const scalar *x, const scalar *dy)
{
    static scalar out[MANY * NARROW_MOST];
    double gain_sum[NARROW_MOST] = {0}, bias_sum[NARROW_MOST] = {0};
    const double rounding =
        (sizeof(scalar) == sizeof(double) ? 1e-13 : 5e-5) * sqrt(MANY); /* of random signs */

    norm_forward(norm, out, (struct dual){.at = x}, NULL, MANY);
    norm_gradient(norm, out, (struct dual){.at = dy}, (struct dual){.at = x}, MANY, false);
    for (int64_t row = 0; row < MANY; row++) {
        int64_t at = row * norm->width;
        add_row(x + at, dy + at, norm->width, norm->kind == LAYERNORM, gain_sum);
        for (int64_t c = 0; c < norm->width; c++)
            bias_sum[c] += (double)dy[at + c];
    }
    for (int64_t c = 0; c < norm->width; c++) {
        CHECK_CLOSE((double)norm->dgain[c], gain_sum[c], rounding);
        if (norm->dbias)
            CHECK_CLOSE((double)norm->dbias[c], bias_sum[c], rounding);
    }
}

EACH_LEVEL(norm_of_narrow_rows)
{
    static scalar x[MANY * NARROW_MOST], dy[MANY * NARROW_MOST], scratch[THREADS_MOST * 2 * NARROW_MOST];
    static scalar means[MANY], scales[MANY], ones[NARROW_MOST], dgain[NARROW_MOST], dbias[NARROW_MOST];

    draw(x, MANY * NARROW_MOST, 1, 1);
    draw(dy, MANY * NARROW_MOST, 1, 2);
    for (int i = 0; i < NARROW_MOST; i++)
        ones[i] = 1;
    for (int64_t width = 4; width <= NARROW_MOST; width *= 2)
        for (enum norm_kind kind = 0; kind < NO_NORM; kind++) {
            const struct team team = {kernels, 1 + (int)(width / 4 + kind) % 3, 2 * width, scratch, 0};
            check_sums(&(struct norm){.team = &team,
                           .kind = kind,
                           .epsilon = 1e-5,
                           .gain = ones,
                           .dgain = dgain,
                           .dbias = norm_table[kind].shift ? dbias : NULL,
                           .mean = means,
                           .scale = scales,
                           .width = width},
                x, dy);
        }
}
