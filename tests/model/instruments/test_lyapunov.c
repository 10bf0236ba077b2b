/* Lyapunov exponents: of linear maps, against the whole Jacobian, and where the state has too few dimensions.
 */
#include "tests/model/lay_out.h"
#include "tests/model/network/model_case.h"

#include "model/instruments/instruments.h"

enum { LAYERS = 3, WIDTH = 4, SIZE = 3 * WIDTH };

static const int64_t lengths[] = {3, 2};

static struct architecture small(enum norm_placement placement)
{
    struct architecture a = decoder_of(11, 3, WIDTH, 2, 6, LAYERS);

    a.norm_placement = placement;
    a.activation = ACTIVATION_GELU;
    a.biases = BIAS_ALL;
    return a;
}

struct bench {
    struct model_case base;
    struct lyapunov lyapunov;
    struct arena arena;
};

static void bench_begin(struct bench *b, struct architecture a, int64_t exponents, int64_t sweeps)
{
    *b = (struct bench){0};
    model_case_init_tangents(&b->base, &a, lengths, 2, 5);
    LAY_OUT(&b->arena, lyapunov_layout(&b->lyapunov, &a, exponents, sweeps, a.context, &b->arena));
}

/* Returns the number of calls, each for one tangent. */
static int64_t bench_measure(struct bench *b)
{
    int64_t calls = 1;

    lyapunov_begin(&b->lyapunov, &b->base.model, b->base.weights, &b->base.batch, 0, 7);
    while (lyapunov_advance(&b->lyapunov))
        calls++;
    return calls;
}

static void bench_end(struct bench *b)
{
    model_case_release(&b->base);
    arena_release(&b->arena);
}

#define IN_BENCH(id, placement, exponents, sweeps)                                                           \
    TEST_IN(id, struct bench, b, bench_begin(b, small(placement), exponents, sweeps), bench_end(b))

#ifdef SCALAR_DOUBLE

TEST(lyapunov_of_identity_blocks)
{
    for (int sweeps = 0; sweeps <= 2; sweeps += 2) {
        struct architecture a = small(NORM_PRE);
        struct bench b;
        bench_begin(&b, a, SIZE, sweeps);
        model_case_silence(&b.base);
        CHECK(bench_measure(&b) == (SIZE + SIZE - 3) * (1 + (2 * sweeps + 1) * LAYERS));
        for (int i = 0; i < SIZE; i++)
            CHECK_CLOSE(b.lyapunov.exponent[i], 0, 1e-12);
        for (int i = 0; i < SIZE - 3; i++)
            CHECK_CLOSE(b.lyapunov.angular[i], 0, 1e-12);
        for (int i = SIZE - 3; i < SIZE; i++)
            CHECK(isnan(b.lyapunov.angular[i]));
        bench_end(&b);
    }
}

/*
 * Under post with rmsnorm and silent sub-layers a block is x' = g x / rms(x) for each token, twice. Tangents
 * along the token die (but for eps); those across it are multiplied by g / rms(x), as is the token itself: so
 * the angular exponents are 0, and the others ln(|x_L| / |x_0|) / L, C - 1 times for each token.
 */
TEST(lyapunov_of_norms)
{
    struct architecture a = small(NORM_POST);
    struct bench b;
    const double gain = 3;

    a.norm = RMSNORM;
    bench_begin(&b, a, SIZE - 3, 40);
    model_case_silence(&b.base);
    model_case_set(&b.base, TENSOR_LN1, gain);
    model_case_set(&b.base, TENSOR_LN2, gain);
    bench_measure(&b);
    for (int i = 0; i < SIZE - 3; i++)
        CHECK_CLOSE(b.lyapunov.angular[i], 0, 1e-10);
    double factor[3];
    transformer_forward(&b.base.model, b.base.weights, &b.base.batch, false);
    const scalar *first = transformer_state(&b.base.model, 0, 0),
                 *last = transformer_state(&b.base.model, 0, LAYERS);
    for (int row = 0; row < 3; row++) {
        double before = 0, after = 0;
        for (int c = row * WIDTH; c < (row + 1) * WIDTH; c++) {
            before += first[c] * first[c];
            after += last[c] * last[c];
        }
        factor[row] = log(after / before) / 2 / LAYERS;
    }
    for (int row = 0; row < 3; row++) {
        int above = 0;
        for (int other = 0; other < 3; other++)
            above += factor[other] > factor[row];
        for (int i = 0; i < WIDTH - 1; i++)
            CHECK_CLOSE(b.lyapunov.exponent[above * (WIDTH - 1) + i], factor[row], 1e-8);
    }
    bench_end(&b);
}

/* The Jacobian of blocks first .. LAYERS - 1 on the first sequence, one row for each column. */
static void jacobian(struct bench *b, double *rows)
{
    struct batch first = b->base.batch;

    first.sequences = 1;
    first.rows = lengths[0];
    transformer_forward(&b->base.model, b->base.weights, &first, false);
    for (int i = 0; i < SIZE; i++) {
        scalar *row = rows + i * SIZE;
        memset(row, 0, SIZE * sizeof(*row));
        row[i] = 1;
        for (int64_t layer = 0; layer < LAYERS; layer++)
            transformer_block_tangent(&b->base.model, b->base.weights, &first, layer, row);
    }
}

/* One exponent without sweeps, from the definition: |J v| of the start v. */
IN_BENCH(lyapunov_first_exponent_is_the_growth_of_its_start, NORM_OUT, 2, 0)
{
    double matrix[SIZE * SIZE], start = 0, end = 0;

    bench_measure(b);
    jacobian(b, matrix);
    for (int c = 0; c < SIZE; c++) {
        double sum = 0, v = random_normal(7, RANDOM_LYAPUNOV, (uint64_t)c);
        for (int r = 0; r < SIZE; r++)
            sum += matrix[r * SIZE + c] * random_normal(7, RANDOM_LYAPUNOV, (uint64_t)r);
        start += v * v;
        end += sum * sum;
    }
    CHECK_CLOSE(b->lyapunov.exponent[0], log(end / start) / 2 / LAYERS, 1e-13);
}

/* More exponents than dimensions. */
IN_BENCH(lyapunov_beyond_the_state_is_missing, NORM_PRE, SIZE + 2, 0)
{
    bench_measure(b);
    for (int i = 0; i < SIZE + 2; i++) {
        CHECK(i < SIZE ? isfinite(b->lyapunov.exponent[i]) : isnan(b->lyapunov.exponent[i]));
        CHECK(i < SIZE - 3 ? isfinite(b->lyapunov.angular[i]) : isnan(b->lyapunov.angular[i]));
    }
}

IN_BENCH(lyapunov_of_a_singular_map_is_missing, NORM_POST, 2, 1)
{
    model_case_set(&b->base, TENSOR_LN2, 0);
    bench_measure(b);
    for (int i = 0; i < 2; i++)
        CHECK(isnan(b->lyapunov.exponent[i]) && isnan(b->lyapunov.angular[i]));
}

/* A token without a direction: the first one is 0, and so are the position and the bias that it meets. */
IN_BENCH(lyapunov_of_a_token_that_is_0, NORM_PRE, 2, 1)
{
    memset(b->base.weights + b->base.batch.tokens[0] * WIDTH, 0, WIDTH * sizeof(*b->base.weights));
    memset(model_case_tensor(&b->base, TENSOR_POSITION, 0), 0, WIDTH * sizeof(*b->base.weights));
    bench_measure(b);
    for (int i = 0; i < 2; i++)
        CHECK(isfinite(b->lyapunov.exponent[i]) && isnan(b->lyapunov.angular[i]));
}

#endif

/* With a width of 1 a token has no other direction. */
TEST(lyapunov_of_width_1)
{
    struct architecture a = small(NORM_PRE);
    struct bench b;

    a.width = a.heads = 1;
    bench_begin(&b, a, 2, 1);
    CHECK(bench_measure(&b) == (2 + 1) * (1 + 3 * LAYERS));
    for (int i = 0; i < 2; i++)
        CHECK(isfinite(b.lyapunov.exponent[i]) && isnan(b.lyapunov.angular[i]));
    bench_end(&b);
}

/* Tangents behind the rank of a map: what rounding leaves of them. A layernorm takes two of C directions. */
IN_BENCH(lyapunov_behind_the_rank, NORM_POST, SIZE, 2)
{
    const double noise = sizeof(scalar) == sizeof(float) ? -10 : -30;

    bench_measure(b);
    for (int i = 0; i < SIZE; i++)
        CHECK(i < SIZE / 4 ? b->lyapunov.exponent[i] > -5 : i < SIZE - 3 || b->lyapunov.exponent[i] < noise);
}

/* A resumed run measures the same bits: nothing is left over from one measurement to the next. */
IN_BENCH(lyapunov_repeats_itself, NORM_PRE, 4, 3)
{
    double before[4];

    bench_measure(b);
    memcpy(before, b->lyapunov.exponent, sizeof(before));
    CHECK(isfinite(before[0] + before[1] + before[2] + before[3]) && before[0] > before[3]);
    model_case_move(&b->base, 0.1);
    bench_measure(b);
    CHECK(memcmp(before, b->lyapunov.exponent, sizeof(before)) != 0);
    weights_init(b->base.weights, &b->base.model.layout, &b->base.model.architecture, 5);
    bench_measure(b);
    CHECK(memcmp(before, b->lyapunov.exponent, sizeof(before)) == 0);
}
