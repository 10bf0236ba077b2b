/*
 * muon: Jordan et al. 2024. The update of a matrix is its momentum, with Nesterov's look ahead, made nearly
 * orthogonal: five Newton-Schulz iterations X <- a X + b (X X') X + c (X X')^2 X from the matrix over its
 * Frobenius norm bring its singular values near 1. The factor 0.2 sqrt(max(rows, columns)) gives it the root
 * mean square of adamw's updates (Liu et al. 2025), so that one learning rate and decay serve both.
 */
#include "model/optimisers/optimiser_inside.h"

#include <math.h>
#include <string.h>

#include "model/kernels/product.h"

enum { ITERATIONS = 5 };

static const double momentum = 0.95;
static const double a = 3.4445, b = -4.7750, c = 2.0315;

/* out = (1 - momentum) g + momentum m, m the momentum after this gradient; `kept` receives m, and may be the
 * old momentum itself. */
static void look_ahead(const struct step *step, scalar *out, scalar *kept, const scalar *old,
    const scalar *gradient, int64_t count)
{
    scalar keep = (scalar)momentum, rest = (scalar)(1 - momentum), scale = (scalar)step->scale;

    for (int64_t i = 0; i < count; i++) {
        scalar g = scale * gradient[i], m = keep * old[i] + rest * g;
        if (kept)
            kept[i] = m;
        out[i] = rest * g + keep * m;
    }
}

/* square [n, n] = x x' or, if x [rows, columns] is tall, x' x: n is the shorter side. */
static void square_of(const struct team *team, scalar *square, const scalar *x, int64_t rows, int64_t columns)
{
    bool tall = rows > columns;
    int64_t n = tall ? columns : rows;
    const struct product product = {.m = n,
        .n = n,
        .k = tall ? rows : columns,
        .a = x,
        .a_stride = columns,
        .a_transposed = tall,
        .b = x,
        .b_stride = columns,
        .b_transposed = !tall,
        .c = square,
        .c_stride = n};

    product_run(team, &product);
}

/* polynomial [n, n] = a + b s + c s s, of the symmetric s [n, n]. */
static void polynomial_of(const struct team *team, scalar *polynomial, const scalar *s, int64_t n)
{
    const struct product product = {
        .m = n, .n = n, .k = n, .a = s, .a_stride = n, .b = s, .b_stride = n, .c = polynomial, .c_stride = n};

    product_run(team, &product);
    for (int64_t i = 0; i < n * n; i++)
        polynomial[i] = (scalar)c * polynomial[i] + (scalar)b * s[i];
    for (int64_t i = 0; i < n; i++)
        polynomial[i * n + i] += (scalar)a;
}

/* to = polynomial x or, if x is tall, x polynomial. */
static void multiply_by(const struct team *team, scalar *to, const scalar *polynomial, const scalar *x,
    int64_t rows, int64_t columns)
{
    bool tall = rows > columns;
    const struct product product = {.m = rows,
        .n = columns,
        .k = tall ? columns : rows,
        .a = tall ? x : polynomial,
        .a_stride = tall ? columns : rows,
        .b = tall ? polynomial : x,
        .b_stride = columns,
        .c = to,
        .c_stride = columns};

    product_run(team, &product);
}

/* Makes x [rows, columns], in scratch, nearly orthogonal; returns where the result is, in scratch, too.
 * Scratch is four planes of the largest tensor: x, its next value, and two squares of its shorter side. */
static scalar *orthogonal(const struct optimiser *o, int64_t rows, int64_t columns)
{
    int64_t largest = o->layout->largest, n = rows < columns ? rows : columns;
    scalar *x = o->scratch, *next = x + largest, *square = next + largest, *polynomial = square + largest;
    double norm = sqrt(o->team.kernels->dot(x, x, rows * columns));

    o->team.kernels->add_scaled(x, NULL, x, (scalar)(1 / fmax(norm, 1e-7)), rows * columns);
    for (int i = 0; i < ITERATIONS; i++) {
        square_of(&o->team, square, x, rows, columns);
        polynomial_of(&o->team, polynomial, square, n);
        multiply_by(&o->team, next, polynomial, x, rows, columns);
        scalar *swap = x;
        x = next;
        next = swap;
    }
    return x;
}

static double factor_of(const struct tensor *tensor)
{
    return 0.2 * sqrt((double)(tensor->rows > tensor->columns ? tensor->rows : tensor->columns));
}

static void muon_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    scalar *m = o->first + tensor->offset;

    look_ahead(step, o->scratch, m, m, gradient, tensor->size);
    const scalar *update = orthogonal(o, tensor->rows, tensor->columns);
    optimiser_descend(o, step, weights, update, tensor->size, factor_of(tensor));
}

static struct sums muon_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    double factor = factor_of(tensor);

    look_ahead(step, o->scratch, NULL, o->first + tensor->offset, gradient, tensor->size);
    const scalar *update = orthogonal(o, tensor->rows, tensor->columns);
    struct sums sums = o->team.kernels->sums(weights, update, tensor->size);
    return (struct sums){.square = factor * factor * sums.square, .product = factor * sums.product};
}

/* How alike two orthogonal matrices of neighbouring momenta are has no known formula. */
static double muon_memory(const struct optimiser_options *options, const struct step *step, double steps)
{
    (void)options, (void)step, (void)steps;
    return NAN;
}

static int64_t no_second(const struct tensor *tensor)
{
    (void)tensor;
    return 0;
}

const struct optimiser_row muon_row = {.first = true,
    .whole = true,
    .scratch = 4,
    .second_size = no_second,
    .step = muon_step,
    .sums = muon_sums,
    .memory = muon_memory,
    .balance = optimiser_no_balance};
