/* Rotary positions at every vector level, against their definition, turned and turned back. */
#include "tests/model/draw.h"

#include "model/core/random.h"
#include "model/layers/layers.h"
#include "tests/model/kernels/each_level.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-14 : 1e-6;

enum { CONTEXT = 40, DEPTH_MOST = 256, HEADS = 3, ROWS = 1 + 17 + CONTEXT, BESIDE = 5 };
enum { SIZE = ROWS * (HEADS * DEPTH_MOST + BESIDE) };

static const int64_t start[] = {0, 1, 18, ROWS};
static const int64_t depths[] = {2, 4, 6, 8, 10, 16, 18, 32, 50, 64, 128, DEPTH_MOST};
enum { DEPTHS = sizeof(depths) / sizeof(*depths) };

static scalar cosine[CONTEXT * DEPTH_MOST / 2], sine[CONTEXT * DEPTH_MOST / 2];
static scalar x[SIZE], turned[SIZE];

/* Draws x and fills the tables. */
static struct rotary begin(const struct kernels *kernels, struct team *team, int64_t threads, int64_t depth)
{
    draw(x, SIZE, 1, 1);
    memcpy(turned, x, sizeof(x));
    rotary_fill(cosine, sine, CONTEXT, depth, 10000, &(struct rotary_scaling){0});
    *team = (struct team){.kernels = kernels, .threads = (int)threads};
    return (struct rotary){team, cosine, sine, depth};
}

/* Element c of a row of x at a position, turned. */
static double expected(const scalar *row, int64_t position, int64_t c, int64_t depth)
{
    int64_t half = depth / 2, within = c % depth, i = within % half, head = c - within;
    long double angle = (long double)position * powl(10000, -2 * (long double)i / (long double)depth);
    long double a = (long double)row[head + i], b = (long double)row[head + half + i];

    return (double)(within < half ? a * cosl(angle) - b * sinl(angle) : b * cosl(angle) + a * sinl(angle));
}

static void check_turn(const struct kernels *kernels, int64_t depth)
{
    struct team team;
    const struct rotary rotary = begin(kernels, &team, 1, depth);
    int64_t width = HEADS * depth, stride = width + BESIDE;

    rotary_turn(&rotary, turned, stride, HEADS, 3, start, false);
    for (int64_t s = 0; s < 3; s++)
        for (int64_t row = start[s]; row < start[s + 1]; row++)
            for (int64_t c = 0; c < stride; c++) {
                const scalar *from = x + row * stride;
                double is = (double)turned[row * stride + c];
                if (c >= width)
                    CHECK(is == (double)from[c]);
                else
                    CHECK_CLOSE(is, expected(from, row - start[s], c, depth), 4 * rounding);
            }
    rotary_turn(&rotary, turned, stride, HEADS, 3, start, true);
    for (int64_t i = 0; i < ROWS * stride; i++)
        CHECK_CLOSE((double)turned[i], (double)x[i], 4 * rounding);
}

EACH_LEVEL(rotary_turns)
{
    for (int i = 0; i < DEPTHS; i++)
        check_turn(kernels, depths[i]);
}

TEST(rotary_by_threads)
{
    static scalar one[SIZE];

    for (int64_t threads = 1; threads <= 3; threads++) {
        struct team team;
        const struct rotary rotary = begin(kernels_best(PRECISION_FLOAT), &team, threads, 18);
        rotary_turn(&rotary, turned, HEADS * 18, HEADS, 3, start, false);
        if (threads == 1)
            memcpy(one, turned, sizeof(one));
        CHECK(memcmp(one, turned, sizeof(one)) == 0);
    }
}
