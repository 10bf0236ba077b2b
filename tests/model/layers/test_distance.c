/* Attention with keys of distances against plain sums in double, at every vector level and for any number of
 * threads. */
#include "tests/model/lay_out.h"

#include "model/core/random.h"
#include "model/layers/layers.h"
#include "tests/model/kernels/each_level.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

/* Sequences within a block of queries (64), just full, just beyond, and of several blocks. */
enum { HEADS = 4, DEPTH = 5, WIDTH = HEADS * DEPTH, LONGEST = 131, REACH = LONGEST + 3 };
enum { TOKENS = 1 + 9 + 64 + 65 + LONGEST, SEQUENCES = 5, PLANE = TOKENS * 3 * WIDTH };

static const int64_t start[] = {0, 1, 10, 74, 139, TOKENS};

static scalar qkv[PLANE], biased[TOKENS * WIDTH], keys[(2 * REACH + 1) * WIDTH], mixed[TOKENS * WIDTH];
static scalar content_bias[WIDTH], distance_bias[WIDTH];
static int32_t count[HEADS * TOKENS];
static double expected[TOKENS * WIDTH];
static int32_t expected_count[HEADS * TOKENS];

/* Whole numbers if `whole`: scores are exact, and ties among the largest common. */
static void draw(scalar *x, int64_t size, uint64_t seed, bool whole)
{
    for (int64_t i = 0; i < size; i++) {
        double drawn = random_normal(seed, RANDOM_TEST, (uint64_t)i);
        x[i] = (scalar)(whole ? rint(drawn) : drawn);
    }
}

static void draw_all(bool whole)
{
    draw(qkv, PLANE, 1, whole);
    draw(keys, (2 * REACH + 1) * WIDTH, 2, whole);
    draw(content_bias, WIDTH, 3, whole);
    draw(distance_bias, WIDTH, 4, whole);
}

/* Of queries without their biases. */
static double score(int64_t row, int64_t key, int64_t h, int64_t kv_heads)
{
    int64_t stride = WIDTH + 2 * kv_heads * DEPTH, kv = h / (HEADS / kv_heads) * DEPTH;
    double sum = 0;

    for (int64_t c = 0; c < DEPTH; c++) {
        int64_t at = h * DEPTH + c;
        double q = (double)qkv[row * stride + at], k = (double)qkv[key * stride + WIDTH + kv + c];
        double of_distance = (double)keys[(REACH - (row - key)) * WIDTH + at];
        sum += (q + (double)content_bias[at]) * k + (q + (double)distance_bias[at]) * of_distance;
    }
    return sum;
}

/* The weights of one query of `length` keys from `first` on. */
static void weigh(
    double *p, int64_t row, int64_t first, int64_t length, int64_t h, int64_t kv_heads, bool hard)
{
    double most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < length; j++) {
        p[j] = score(row, first + j, h, kv_heads);
        most = fmax(most, p[j]);
    }
    for (int64_t j = 0; j < length; j++) {
        p[j] = hard ? p[j] == most : exp((p[j] - most) / sqrt(DEPTH));
        sum += p[j];
    }
    for (int64_t j = 0; j < length; j++)
        p[j] /= sum;
}

static void expect_row(int64_t row, int64_t first, int64_t length, int64_t kv_heads, bool hard)
{
    int64_t stride = WIDTH + 2 * kv_heads * DEPTH;
    double p[LONGEST];

    for (int64_t h = 0; h < HEADS; h++) {
        int64_t v = WIDTH + (kv_heads + h / (HEADS / kv_heads)) * DEPTH;
        weigh(p, row, first, length, h, kv_heads, hard);
        expected_count[h * TOKENS + row] = 0;
        for (int64_t j = 0; j < length; j++)
            expected_count[h * TOKENS + row] += p[j] > ATTENDED;
        for (int64_t c = 0; c < DEPTH; c++) {
            expected[row * WIDTH + h * DEPTH + c] = 0;
            for (int64_t j = 0; j < length; j++)
                expected[row * WIDTH + h * DEPTH + c] += p[j] * (double)qkv[(first + j) * stride + v + c];
        }
    }
}

/* mixed and count of the team. */
static void compute(const struct kernels *kernels, int64_t threads, int64_t kv_heads, bool hard)
{
    static scalar own[PLANE];
    struct arena arena;
    struct team team;

    LAY_OUT(&arena, team_layout(&team, PRECISION_FLOAT, threads, distances_scratch(REACH + 1), &arena));
    team.least = 0;
    team.kernels = kernels;
    const struct distances distances = {.team = &team,
        .heads = HEADS,
        .kv_heads = kv_heads,
        .depth = DEPTH,
        .scale = heads_scale(DEPTH),
        .hard = hard,
        .sequences = SEQUENCES,
        .start = start,
        .reach = REACH,
        .keys = keys,
        .in = projected_together(own, WIDTH, kv_heads * DEPTH),
        .queries = biased};
    memcpy(own, qkv, sizeof(own));
    distances_bias(&distances, content_bias, distance_bias);
    distances_forward(&distances, mixed);
    distances_attended(&distances, count);
    arena_release(&arena);
}

static void check_computed(const struct kernels *kernels, int64_t kv_heads, bool hard)
{
    int wrong = 0, apart = 0;

    for (int64_t s = 0; s < SEQUENCES; s++)
        for (int64_t row = start[s]; row < start[s + 1]; row++)
            expect_row(row, start[s], start[s + 1] - start[s], kv_heads, hard);
    for (int64_t i = 0; i < TOKENS * WIDTH; i++)
        wrong += !(fabs((double)mixed[i] - expected[i]) <= rounding);
    for (int64_t i = 0; i < HEADS * TOKENS; i++)
        apart += count[i] != expected_count[i];
    if (wrong || apart)
        test_fail(__FILE__, __LINE__, "%s, %d heads of keys, hard %d: %d elements and %d counts are wrong",
            kernels->level, (int)kv_heads, hard, wrong, apart);
}

EACH_LEVEL(distance_heads)
{
    for (int hard = 0; hard < 2; hard++)
        for (int64_t kv_heads = 1; kv_heads <= HEADS; kv_heads *= 2) {
            draw_all(hard);
            compute(kernels, 1, kv_heads, hard);
            check_computed(kernels, kv_heads, hard);
        }
}

/* The same bits for any number of threads. */
TEST(distance_heads_by_threads)
{
    static scalar one[TOKENS * WIDTH];

    draw_all(false);
    compute(kernels_best(PRECISION_FLOAT), 1, HEADS, false);
    memcpy(one, mixed, sizeof(one));
    for (int64_t threads = 2; threads <= 7; threads++) {
        compute(kernels_best(PRECISION_FLOAT), threads, HEADS, false);
        CHECK(memcmp(one, mixed, sizeof(one)) == 0);
    }
}

/* A key of NaN: every query of its sequence has NaN in the heads that read it, no other has. */
EACH_LEVEL(distance_heads_let_nan_through)
{
    for (int hard = 0; hard < 2; hard++) {
        draw_all(false);
        qkv[12 * 3 * WIDTH + WIDTH + 1 * DEPTH] = NAN; /* of head 1 */
        compute(kernels, 2, HEADS, hard);
        for (int64_t row = 0; row < TOKENS; row++)
            for (int64_t h = 0; h < HEADS; h++) {
                bool reads = h == 1 && row >= start[2] && row < start[3];
                CHECK(isnan((double)mixed[row * WIDTH + h * DEPTH]) == reads);
                CHECK((count[h * TOKENS + row] == -1) == reads);
            }
    }
}

TEST(distance_sinusoids)
{
    enum { CONTEXT = 300, WIDEST = 8 };
    static scalar table[(2 * CONTEXT - 1) * WIDEST];

    for (int64_t width = 2; width <= WIDEST; width += 2) {
        distances_fill(table, CONTEXT, width);
        for (int64_t distance = 1 - CONTEXT; distance < CONTEXT; distance++)
            for (int64_t c = 0; c < width; c++) {
                int64_t k = c % (width / 2);
                long double angle =
                    (long double)distance * powl(10000, -2 * (long double)k / (long double)width);
                double value = (double)(c < width / 2 ? sinl(angle) : cosl(angle));
                CHECK_CLOSE((double)table[(CONTEXT - 1 - distance) * width + c], value,
                    sizeof(scalar) == 4 ? 1e-7 : 1e-12);
            }
    }
}
