/* Norms of rows whose variance overflows a float: as those of a smaller row, if the norm is wide; else NaN.
 */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "model/core/random.h"
#include "model/layers/norm.h"
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

    norm_forward(&norm, plain, large, NULL, ROWS);
    if (sizeof(scalar) == sizeof(float))
        CHECK(isnan((double)plain[LARGE * WIDTH]));
    norm.wide = true;
    norm_forward(&norm, wide, large, NULL, ROWS);
    for (int row = 0; row < ROWS; row++)
        if (row == BROKEN || row == ENDLESS)
            CHECK(isnan((double)wide[row * WIDTH]) && isnan((double)wide[row * WIDTH + WIDTH - 1]));
        else if (row != LARGE)
            CHECK(memcmp(plain + row * WIDTH, wide + row * WIDTH, WIDTH * sizeof(*wide)) == 0);
    norm_forward(&norm, plain, in, NULL, ROWS);
    for (int c = 0; c < WIDTH; c++)
        CHECK_CLOSE((double)wide[LARGE * WIDTH + c], (double)plain[LARGE * WIDTH + c], 1e-5);
}

static void check_level(const struct kernels *kernels)
{
    static scalar scratch[2 * WIDTH];
    const struct team team = {kernels, 1, 2 * WIDTH, scratch, 0};

    for (enum norm_kind kind = 0; kind < NORM_KIND_COUNT; kind++)
        check_kind(&team, kind);
}

TEST(norm_of_wide_rows)
{
    for (int i = 0; i < ROWS * WIDTH; i++) {
        in[i] = (scalar)random_normal(1, RANDOM_TEST, (uint64_t)i);
        large[i] = i / WIDTH == LARGE ? (scalar)(factor * (double)in[i]) : in[i];
    }
    for (int c = 0; c < WIDTH; c++) {
        gain[c] = (scalar)(1 + 0.3 * random_normal(3, RANDOM_TEST, (uint64_t)c));
        bias[c] = (scalar)random_normal(4, RANDOM_TEST, (uint64_t)c);
    }
    large[BROKEN * WIDTH + 3] = (scalar)NAN;
    large[ENDLESS * WIDTH + 3] = (scalar)INFINITY;
    each_level(check_level);
}
