/* Rotary positions at every vector level: against their definition, and what follows from it. */
#include "tests/test.h"

#include <string.h>

#include "model/core/random.h"
#include "model/layers/rotary.h"
#include "tests/model/kernels/each_level.h"

#ifdef SCALAR_DOUBLE
static const double rounding = 1e-14;
#else
static const double rounding = 1e-6;
#endif

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
    for (int64_t i = 0; i < SIZE; i++)
        turned[i] = x[i] = (scalar)random_normal(1, RANDOM_TEST, (uint64_t)i);
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

static void check_turns(const struct kernels *kernels)
{
    for (int i = 0; i < DEPTHS; i++)
        check_turn(kernels, depths[i]);
}

TEST(rotary_turns)
{
    each_level(check_turns);
}

static double dot(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* The transposed of a turn is the turn back: <turn x, y> = <x, turn y back>. So a turn preserves norms. */
static void check_transposed(const struct kernels *kernels)
{
    static scalar y[SIZE], back[SIZE];

    for (int64_t i = 0; i < SIZE; i++)
        back[i] = y[i] = (scalar)random_normal(2, RANDOM_TEST, (uint64_t)i);
    for (int i = 0; i < DEPTHS; i++) {
        struct team team;
        const struct rotary rotary = begin(kernels, &team, 1, depths[i]);
        int64_t width = HEADS * depths[i], count = ROWS * width;
        memcpy(back, y, sizeof(back));
        rotary_turn(&rotary, turned, width, HEADS, 3, start, false);
        rotary_turn(&rotary, back, width, HEADS, 3, start, true);
        CHECK_CLOSE(dot(turned, y, count), dot(x, back, count), rounding * (double)count);
        for (int64_t row = 0; row < ROWS; row++) {
            double square = dot(x + row * width, x + row * width, width);
            CHECK_CLOSE(dot(turned + row * width, turned + row * width, width) / square, 1, 2 * rounding);
        }
    }
}

TEST(rotary_is_orthogonal)
{
    each_level(check_transposed);
}

/* The same query and key in every row: their product depends on the distance of their positions alone. */
static void check_distances(const struct kernels *kernels)
{
    static const int64_t one[] = {0, CONTEXT};
    enum { DEPTH = 16 };
    struct team team;
    const struct rotary rotary = begin(kernels, &team, 1, DEPTH);

    for (int64_t row = 1; row < CONTEXT; row++)
        memcpy(turned + 2 * row * DEPTH, turned, 2 * DEPTH * sizeof(*turned));
    rotary_turn(&rotary, turned, 2 * DEPTH, 2, 1, one, false);
    const scalar *query = turned, *key = turned + DEPTH;
    double apart = 0;
    for (int64_t i = 0; i < CONTEXT; i++)
        for (int64_t j = 0; j <= i; j++) {
            double product = dot(query + 2 * i * DEPTH, key + 2 * j * DEPTH, DEPTH);
            CHECK_CLOSE(product, dot(query + 2 * (i - j) * DEPTH, key, DEPTH), 100 * rounding);
            apart = fmax(apart, fabs(product - dot(query, key, DEPTH)));
        }
    CHECK(apart > 1);
}

TEST(rotary_products_by_distance)
{
    each_level(check_distances);
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
