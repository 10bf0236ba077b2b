/* Singular values in closed forms: of one row times another, of orthogonal matrices, of noise; of heads that
 * read or write the same, or nothing; of matrices that are 0 or not finite. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"
#include "tests/model/draw.h"

enum { WIDTH = 16, HEADS = 2, DEPTH = WIDTH / HEADS, FEEDFORWARD = 24 };

static const struct architecture small = {.network = NETWORK_DECODER,
    .vocabulary = 5,
    .context = 3,
    .width = WIDTH,
    .heads = HEADS,
    .feedforward = FEEDFORWARD,
    .layers = 2,
    .biases = BIAS_ALL};
static const struct architecture wide = {.network = NETWORK_DECODER,
    .vocabulary = 5,
    .context = 3,
    .width = 300,
    .heads = 3,
    .feedforward = 700,
    .layers = 1};

static const double rounding = sizeof(scalar) == sizeof(float) ? 1e-6 : 1e-13;

struct bench {
    struct architecture architecture;
    struct weight_layout layout;
    struct spectra spectra;
    struct instruments instruments;
    scalar *weights;
    struct arena arena;
};

static void lay_out(struct bench *b)
{
    weight_layout_init(&b->layout, &b->architecture, false, &b->arena);
    spectra_layout(&b->spectra, &b->layout, &b->architecture, true, &b->arena);
    instruments_layout(&b->instruments, &b->layout, &b->architecture, false, &b->arena);
    b->weights = arena_plane(&b->arena, 1, b->layout.size);
}

static void bench_init(struct bench *b, const struct architecture *architecture)
{
    *b = (struct bench){.architecture = *architecture};
    LAY_OUT(&b->arena, lay_out(b));
    draw(b->weights, b->layout.size, 0.02, 3);
}

static void bench_end(struct bench *b)
{
    arena_release(&b->arena);
}

#define IN_BENCH(id, which) TEST_IN(id, struct bench, b, bench_init(b, which), bench_end(b))

static const struct tensor *tensor_of(const struct bench *b, enum tensor_kind kind, int64_t layer)
{
    return &b->layout.tensor[tensor_index(&b->architecture, kind, layer)];
}

/* Of a value of each tensor: its place. */
static int64_t place(enum tensor_kind kind, int64_t layer)
{
    return layer * LAYER_TENSOR_COUNT + kind - LAYER_TENSOR_FIRST;
}

static scalar *matrix(const struct bench *b, enum tensor_kind kind, int64_t layer)
{
    return b->weights + tensor_of(b, kind, layer)->offset;
}

static double value(const struct bench *b, enum tensor_kind kind, int64_t i)
{
    return b->spectra.values[place(kind, 1) * b->spectra.length + i];
}

/* Element (row, column) of an orthogonal matrix of `size`, that of the discrete Hartley transform. */
static double hartley(int64_t row, int64_t column, int64_t size)
{
    const double angle = 2 * acos(-1) * (double)(row * column % size) / (double)size;

    return (cos(angle) + sin(angle)) / sqrt((double)size);
}

IN_BENCH(spectra_of_one_row_times_another, &small)
{
    scalar *w1 = matrix(b, TENSOR_W1, 1), left[FEEDFORWARD], right[WIDTH];

    draw(left, FEEDFORWARD, 1, 4);
    draw(right, WIDTH, 1, 5);
    for (int64_t i = 0; i < FEEDFORWARD * WIDTH; i++)
        w1[i] = left[i / WIDTH] * right[i % WIDTH];
    spectra_measure(&b->spectra, b->weights, 1);
    int64_t at = place(TENSOR_W1, 1);
    double size = sqrt(dot(left, left, FEEDFORWARD) * dot(right, right, WIDTH));
    CHECK_CLOSE(b->spectra.top[at] / size, 1, rounding);
    CHECK_CLOSE(b->spectra.stable_rank[at], 1, rounding);
    CHECK_CLOSE(b->spectra.entropy[at], 1, rounding);
    double noise = (sqrt(FEEDFORWARD) + sqrt(WIDTH)) / sqrt(FEEDFORWARD * WIDTH);
    CHECK_CLOSE(b->spectra.over_noise[at], 1 / noise, rounding);
    CHECK_CLOSE(value(b, TENSOR_W1, 0), b->spectra.top[at], 0);
    for (int64_t i = 1; i < WIDTH; i++)
        CHECK(value(b, TENSOR_W1, i) <= 1e-6 * size);
}

/* Rows of an orthogonal matrix times 3, and its columns: all singular values are 3. */
IN_BENCH(spectra_of_orthogonal_matrices, &small)
{
    static const enum tensor_kind kinds[] = {TENSOR_Q, TENSOR_W1, TENSOR_W2};

    for (int i = 0; i < 3; i++) {
        const struct tensor *tensor = tensor_of(b, kinds[i], 1);
        int64_t longer = tensor->rows > tensor->columns ? tensor->rows : tensor->columns;
        for (int64_t at = 0; at < tensor->size; at++)
            matrix(b, kinds[i], 1)[at] =
                (scalar)(3 * hartley(at / tensor->columns, at % tensor->columns, longer));
    }
    spectra_measure(&b->spectra, b->weights, 1);
    for (int i = 0; i < 3; i++) {
        CHECK_CLOSE(b->spectra.top[place(kinds[i], 1)], 3, 3 * rounding);
        CHECK_CLOSE(b->spectra.stable_rank[place(kinds[i], 1)], WIDTH, WIDTH * rounding);
        CHECK_CLOSE(b->spectra.entropy[place(kinds[i], 1)], WIDTH, WIDTH * rounding);
        for (int64_t j = 0; j < WIDTH; j++)
            CHECK_CLOSE(value(b, kinds[i], j), 3, 3 * rounding);
    }
}

/* By Marchenko and Pastur, white noise has a largest singular value of sqrt(rows) + sqrt(columns), give or
 * take a share of size^(-2/3). */
IN_BENCH(spectra_of_noise, &wide)
{
    spectra_measure(&b->spectra, b->weights, 0);
    for (enum tensor_kind kind = TENSOR_Q; kind <= TENSOR_W2; kind++) {
        CHECK_CLOSE(b->spectra.over_noise[place(kind, 0)], 1, 0.03);
        CHECK_CLOSE(b->spectra.stable_rank[place(kind, 0)],
            tensor_of(b, kind, 0)->size /
                pow(sqrt((double)tensor_of(b, kind, 0)->rows) + sqrt((double)tensor_of(b, kind, 0)->columns),
                    2),
            6);
    }
    CHECK(isnan(b->spectra.top[place(TENSOR_LN1, 0)]) && isnan(b->spectra.top[place(TENSOR_W3, 0)]));
    CHECK(isnan(b->spectra.over_noise[place(TENSOR_LN1, 0)]) &&
          isnan(b->spectra.values[place(TENSOR_LN1, 0) * 300]));
}

/* A head whose keys are its queries, one that writes what it reads; another whose queries meet no key. */
IN_BENCH(spectra_of_heads, &small)
{
    scalar *q = matrix(b, TENSOR_Q, 1), *k = matrix(b, TENSOR_K, 1);
    scalar *v = matrix(b, TENSOR_V, 1), *o = matrix(b, TENSOR_O, 1);

    memcpy(k, q, DEPTH * WIDTH * sizeof(*k));
    for (int64_t i = 0; i < DEPTH * WIDTH; i++)
        o[i % WIDTH * WIDTH + i / WIDTH] = v[i];
    for (int64_t i = DEPTH * WIDTH; i < 2 * DEPTH * WIDTH; i++) { /* each of half the dimensions */
        q[i] *= i / WIDTH % 2;
        k[i] *= i / WIDTH % 2 == 0;
        v[i] *= i / WIDTH == DEPTH || i / WIDTH == DEPTH + 1;
    }
    spectra_measure(&b->spectra, b->weights, 1);
    CHECK_CLOSE(b->spectra.qk_imbalance[HEADS], 0, 1e-15);
    CHECK_CLOSE(b->spectra.ov_imbalance[HEADS], 0, 1e-15);
    CHECK(b->spectra.qk_rank[HEADS] <= DEPTH && b->spectra.qk_rank[HEADS] >= DEPTH - 2);
    CHECK(b->spectra.ov_rank[HEADS] <= DEPTH && b->spectra.ov_rank[HEADS] >= DEPTH - 2);
    CHECK(b->spectra.qk_rank[HEADS + 1] == 0 && b->spectra.ov_rank[HEADS + 1] == 2);
    CHECK(b->spectra.qk_imbalance[HEADS + 1] > 0.3 && b->spectra.qk_imbalance[HEADS + 1] < 1);
}

IN_BENCH(spectra_without_a_direction, &small)
{
    memset(matrix(b, TENSOR_Q, 0), 0, WIDTH * WIDTH * sizeof(scalar));
    memset(matrix(b, TENSOR_Q, 1), 0, WIDTH * WIDTH * sizeof(scalar));
    memset(matrix(b, TENSOR_K, 1), 0, WIDTH * WIDTH * sizeof(scalar));
    matrix(b, TENSOR_V, 1)[3] = NAN;
    matrix(b, TENSOR_W1, 1)[3] = (scalar)INFINITY;
    spectra_measure(&b->spectra, b->weights, 0);
    spectra_measure(&b->spectra, b->weights, 1);
    int64_t q = place(TENSOR_Q, 1);
    CHECK(b->spectra.top[q] == 0 && value(b, TENSOR_Q, WIDTH - 1) == 0);
    CHECK(
        isnan(b->spectra.stable_rank[q]) && isnan(b->spectra.over_noise[q]) && isnan(b->spectra.entropy[q]));
    CHECK(b->spectra.qk_rank[0] == 0 && b->spectra.qk_rank[HEADS] == 0);
    CHECK(b->spectra.qk_imbalance[0] > 0 && b->spectra.qk_imbalance[0] <= 1 &&
          isnan(b->spectra.qk_imbalance[HEADS]));
    CHECK(isnan(b->spectra.ov_rank[HEADS]) && isnan(b->spectra.ov_imbalance[HEADS]));
    CHECK(b->spectra.ov_rank[HEADS + 1] > 0 && b->spectra.ov_imbalance[HEADS + 1] < 1);
    CHECK(isnan(b->spectra.top[place(TENSOR_V, 1)]) && isnan(b->spectra.top[place(TENSOR_W1, 1)]));
    CHECK(isnan(value(b, TENSOR_V, 0)) && b->spectra.top[place(TENSOR_W2, 1)] > 0);
}

IN_BENCH(spectra_judge_what_is_dead, &small)
{
    struct state_measures state;

    measure_state(&b->instruments, b->weights, &state);
    for (int64_t at = 0; at < small.layers * LAYER_TENSOR_COUNT; at++)
        b->instruments.rms_equilibrium[at] = 0.02 * (at < LAYER_TENSOR_COUNT ? 3.5 : 4.5);
    b->instruments.rms_equilibrium[place(TENSOR_K, 1)] = NAN;
    spectra_judge(&b->spectra, &b->instruments);
    CHECK(b->spectra.dead[place(TENSOR_Q, 0)] == 0 && b->spectra.dead[place(TENSOR_Q, 1)] == 1);
    CHECK(b->spectra.dead[place(TENSOR_W2, 0)] == 0 && b->spectra.dead[place(TENSOR_W2, 1)] == 1);
    CHECK(isnan(b->spectra.dead[place(TENSOR_K, 1)]) && isnan(b->spectra.dead[place(TENSOR_LN1, 0)]));
    CHECK(isnan(b->spectra.dead[place(TENSOR_W3, 0)]) && isnan(b->spectra.dead[place(TENSOR_W1_BIAS, 1)]));
}
