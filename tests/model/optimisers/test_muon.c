/* muon's updates beside plain iterations in double, on matrices of all shapes; several matrices among
 * threads. */
#include "tests/test.h"

#include <string.h>

#include "model/core/random.h"
#include "model/optimisers/optimiser.h"

enum { MATRICES = 7, MOST = 96 * 96, COUNT = 96 * 96 + 40 * 96 + 96 * 40 + 3 * 70 + 2 * 17 * 16 + 48 * 64 };

static const int64_t shapes[MATRICES][2] = {
    {96, 96}, {40, 96}, {96, 40}, {3, 70}, {17, 16}, {16, 17}, {48, 64}};

struct subject {
    struct tensor tensor[MATRICES];
    struct weight_layout layout;
    struct arena arena;
    struct optimiser optimiser;
    scalar weights[COUNT], gradient[COUNT];
};

/* The singular values of each gradient: alike, or falling over so many powers of ten. */
enum { ALIKE, FALLING, ONE };
static const char *const spectra[] = {"alike", "falling", "of rank one"};

static void draw_matrix(scalar *x, int64_t rows, int64_t columns, int spectrum, uint64_t seed)
{
    int64_t n = rows < columns ? rows : columns, rank = spectrum == ONE ? 1 : n;

    memset(x, 0, (size_t)(rows * columns) * sizeof(*x));
    for (int64_t k = 0; k < rank; k++) {
        double size = spectrum == FALLING ? pow(10, -5 * (double)k / (double)n) : 1;
        uint64_t at = (uint64_t)(k * (rows + columns));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                x[i * columns + j] +=
                    (scalar)(1e-3 * size * random_normal(seed, RANDOM_TEST, at + (uint64_t)i) *
                             random_normal(seed, RANDOM_TEST, at + (uint64_t)(rows + j)));
    }
}

static void subject_layout(struct subject *s, const struct optimiser_options *options, int64_t threads)
{
    s->arena.used = 0;
    optimiser_layout(&s->optimiser, options, &s->layout, threads, &s->arena);
}

static void subject_init(struct subject *s, int spectrum, int64_t threads)
{
    struct optimiser_options options = {.kind = OPTIMISER_MUON, .beta1 = 0.9, .beta2 = 0.99};

    *s = (struct subject){0};
    s->layout =
        (struct weight_layout){.tensor_count = MATRICES, .tensor = s->tensor, .largest_in_layers = MOST};
    for (int i = 0; i < MATRICES; i++) {
        int64_t rows = shapes[i][0], columns = shapes[i][1];
        s->tensor[i] = (struct tensor){.kind = TENSOR_W1,
            .offset = s->layout.size,
            .rows = rows,
            .columns = columns,
            .size = rows * columns};
        draw_matrix(s->gradient + s->layout.size, rows, columns, spectrum, 1 + (uint64_t)i);
        s->layout.size += rows * columns;
    }
    s->layout.layers_end = s->layout.size;
    s->layout.largest = MOST;
    subject_layout(s, &options, threads);
    CHECK(arena_init(&s->arena, s->arena.used) == 0);
    subject_layout(s, &options, threads);
}

/* to = one other, [n, n] [n, m]. */
static void plain_product(double *to, const double *one, const double *other, int64_t n, int64_t m)
{
    memset(to, 0, (size_t)(n * m) * sizeof(*to));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < m; j++)
                to[i * m + j] += one[i * n + k] * other[k * m + j];
}

/* One iteration on x [n, m], n <= m. */
static void iterate(double *x, int64_t n, int64_t m)
{
    static double square[MOST], fourth[MOST], next[MOST];

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            square[i * n + j] = 0;
            for (int64_t k = 0; k < m; k++)
                square[i * n + j] += x[i * m + k] * x[j * m + k];
        }
    plain_product(fourth, square, square, n, n);
    for (int64_t i = 0; i < n * n; i++)
        fourth[i] = (i % (n + 1) == 0 ? 3.4445 : 0) - 4.7750 * square[i] + 2.0315 * fourth[i];
    plain_product(next, fourth, x, n, m);
    memcpy(x, next, (size_t)(n * m) * sizeof(*x));
}

/* The distance of weights + rate * update from the update expected for this gradient, relative to the latter.
 */
static double distance(
    const struct tensor *tensor, const scalar *weights, const scalar *gradient, double rate)
{
    static double x[MOST];
    bool tall = tensor->rows > tensor->columns;
    int64_t n = tall ? tensor->columns : tensor->rows, m = tall ? tensor->rows : tensor->columns;
    double square = 0, apart = 0, whole = 0, scale = 0.2 * sqrt((double)m);

    for (int64_t i = 0; i < tensor->size; i++)
        square += (double)gradient[i] * (double)gradient[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            x[i * m + j] = (double)gradient[tall ? j * n + i : i * m + j] / sqrt(square);
    for (int i = 0; i < 5; i++)
        iterate(x, n, m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double want = scale * x[i * m + j];
            double got = -(double)weights[tall ? j * n + i : i * m + j] / rate;
            apart += (got - want) * (got - want);
            whole += want * want;
        }
    return sqrt(apart / whole);
}

/* The first step from weights of 0: its momentum is along the gradient. */
TEST(muon_is_the_plain_iterations)
{
    static struct subject s;
    const double most = sizeof(scalar) == sizeof(double) ? 1e-11 : 1e-4;

    for (int spectrum = ALIKE; spectrum <= ONE; spectrum++) {
        subject_init(&s, spectrum, 1);
        optimiser_step(&s.optimiser, s.weights, s.gradient, 1, 1, 0.5);
        for (int i = 0; i < MATRICES; i++) {
            int64_t at = s.tensor[i].offset;
            double apart = distance(&s.tensor[i], s.weights + at, s.gradient + at, 0.5);
            if (!(apart <= most))
                test_fail(__FILE__, __LINE__, "%d x %d, singular values %s: %g", (int)shapes[i][0],
                    (int)shapes[i][1], spectra[spectrum], apart);
        }
        arena_release(&s.arena);
    }
}

/* Threads take whole matrices: whichever does, update and its sums are the same. */
TEST(muon_of_many_matrices_by_threads)
{
    static struct subject one, more;

    subject_init(&one, FALLING, 1);
    struct update first =
        optimiser_update(&one.optimiser, one.weights, one.gradient, 1, 1, 0.5, 0, one.layout.size);
    optimiser_step(&one.optimiser, one.weights, one.gradient, 1, 1, 0.5);
    for (int64_t threads = 2; threads <= 9; threads++) {
        subject_init(&more, FALLING, threads);
        struct update update =
            optimiser_update(&more.optimiser, more.weights, more.gradient, 1, 1, 0.5, 0, more.layout.size);
        optimiser_step(&more.optimiser, more.weights, more.gradient, 1, 1, 0.5);
        CHECK(first.square == update.square && first.product == update.product);
        CHECK(memcmp(one.weights, more.weights, sizeof(one.weights)) == 0);
        arena_release(&more.arena);
    }
    arena_release(&one.arena);
}

/* Of a gradient of 0 nothing moves, and nothing becomes NaN. */
TEST(muon_of_no_gradient)
{
    static struct subject s;

    subject_init(&s, ALIKE, 1);
    memset(s.gradient, 0, sizeof(s.gradient));
    optimiser_step(&s.optimiser, s.weights, s.gradient, 1, 1, 0.5);
    for (int i = 0; i < COUNT; i++)
        CHECK(s.weights[i] == 0);
    arena_release(&s.arena);
}
