/*
 * muon: Jordan et al. 2024. The update of a matrix is its momentum, with Nesterov's look ahead, made nearly
 * orthogonal: five Newton-Schulz iterations X <- Q X, Q = a + b Y + c Y^2, Y = X X', from the matrix over its
 * Frobenius norm bring its singular values near 1. The factor 0.2 sqrt(max(rows, columns)) gives it the root
 * mean square of adamw's updates (Liu et al. 2025), so that one learning rate and decay serve both.
 *
 * Y and Q are symmetric and commute, so of each of their products half is computed. If X is longer than it is
 * wide, products with X are the dearest, and most iterations do without: Q Y Q is the next Y, and the Qs are
 * multiplied first, P = Q Q, then X <- P X. In exact arithmetic all that is the same. In float the recursion
 * of Y is less so: X X' has rounding errors of the size of its largest eigenvalue, which hide the smallest
 * ones, and near 0 each iteration multiplies Y by a^2 = 12. Five iterations in a row would make errors of
 * 1e-5 to 6e-4 of the update, measured on momenta of runs, where the plain iterations make 2e-6 to 7e-6.
 * Three and then two, each from a Y made anew of X, make at most three times the errors of the plain ones; on
 * matrices of low rank, or whose singular values span 1e-6 to 1 or fall like 1/k or 1/k^2, at most twice
 * those or 1e-5.
 */
#include "model/optimisers/inside.h"

#include <math.h>

/* The iterations from one Y = X X' to the next, up to a 0: of square matrices, and of others. */
static const int square_parts[] = {1, 1, 1, 1, 1, 0}, parts[] = {3, 2, 0};

static const double momentum = 0.95;
static const double a = 3.4445, b = -4.7750, c = 2.0315;

/* The scratch of a thread. X is scaled by c^(1/4), so that its polynomial in Y = X X' is (Y - shift)^2 +
 * rest: one product of a matrix with itself. */
struct orthogonal {
    const struct kernels *kernels;
    int64_t rows, columns, n; /* n: the shorter side */
    scalar *packing; /* [PRODUCT_SCRATCH] */
    scalar *x, *next; /* [rows, columns] */
    scalar *y, *p, *q, *spare; /* [n, n] */
};

enum { PLANES = 6 }; /* of the largest tensor of the layers, at most */

static int64_t muon_scratch(const struct weight_layout *layout)
{
    return PRODUCT_SCRATCH + PLANES * layout->largest_in_layers;
}

static struct orthogonal place(const struct optimiser *o, const struct tensor *tensor, scalar *scratch)
{
    int64_t size = tensor->size, n = tensor->rows < tensor->columns ? tensor->rows : tensor->columns;
    scalar *x = scratch + PRODUCT_SCRATCH, *y = x + 2 * size;

    return (struct orthogonal){.kernels = o->team.kernels,
        .rows = tensor->rows,
        .columns = tensor->columns,
        .n = n,
        .packing = scratch,
        .x = x,
        .next = x + size,
        .y = y,
        .p = y + n * n,
        .q = y + 2 * n * n,
        .spare = y + 3 * n * n};
}

/* Y = X X' or, if X is tall, X' X. */
static void square_of(const struct orthogonal *w)
{
    bool tall = w->rows > w->columns;
    const struct product product = {.m = w->n,
        .n = w->n,
        .k = tall ? w->rows : w->columns,
        .a = w->x,
        .a_stride = w->columns,
        .a_transposed = tall,
        .b = w->x,
        .b_stride = w->columns,
        .b_transposed = !tall,
        .c = w->y,
        .c_stride = w->n,
        .symmetric = true};

    product_alone(w->kernels, &product, w->packing);
}

/* to = one other, of symmetric matrices that commute. */
static void symmetric_product(const struct orthogonal *w, scalar *to, const scalar *one, const scalar *other)
{
    const struct product product = {.m = w->n,
        .n = w->n,
        .k = w->n,
        .a = one,
        .a_stride = w->n,
        .b = other,
        .b_stride = w->n,
        .c = to,
        .c_stride = w->n,
        .symmetric = true};

    product_alone(w->kernels, &product, w->packing);
}

/* to = (Y - shift)^2 + rest; Y's diagonal is kept in `spare`. */
static void polynomial_of(const struct orthogonal *w, scalar *to)
{
    const double shift = -b / (2 * sqrt(c)), rest = a - shift * shift;
    int64_t n = w->n;

    for (int64_t i = 0; i < n; i++) {
        w->spare[i] = w->y[i * n + i];
        w->y[i * n + i] -= (scalar)shift;
    }
    symmetric_product(w, to, w->y, w->y);
    for (int64_t i = 0; i < n; i++) {
        w->y[i * n + i] = w->spare[i];
        to[i * n + i] += (scalar)rest;
    }
}

/* X <- P X or, if X is tall, X P. */
static void apply(struct orthogonal *w)
{
    bool tall = w->rows > w->columns;
    scalar *from = w->x, *to = w->next;
    const struct product product = {.m = w->rows,
        .n = w->columns,
        .k = w->n,
        .a = tall ? from : w->p,
        .a_stride = w->n,
        .b = tall ? w->p : from,
        .b_stride = w->columns,
        .c = to,
        .c_stride = w->columns};

    product_alone(w->kernels, &product, w->packing);
    w->x = to;
    w->next = from;
}

/* So many iterations, by products of n x n matrices but for the first and the last. */
static void iterate(struct orthogonal *w, int iterations)
{
    square_of(w);
    polynomial_of(w, w->p);
    for (int i = 1; i < iterations; i++) {
        const scalar *last = i == 1 ? w->p : w->q;
        symmetric_product(w, w->spare, w->y, last);
        symmetric_product(w, w->y, w->spare, last);
        polynomial_of(w, w->q);
        symmetric_product(w, w->spare, w->p, w->q);
        scalar *swap = w->p;
        w->p = w->spare;
        w->spare = swap;
    }
    apply(w);
}

static double factor_of(const struct tensor *tensor)
{
    return 0.2 * sqrt((double)(tensor->rows > tensor->columns ? tensor->rows : tensor->columns));
}

/* The update of a matrix in w->x, but for the returned factor; kept, unless NULL, receives the momentum. */
static double muon_update(struct orthogonal *w, const struct optimiser *o, const struct tensor *tensor,
    const struct step *step, scalar *kept, const scalar *gradient)
{
    const scalar *old = o->first + tensor->offset;
    double root = sqrt(sqrt(c));

    *w = place(o, tensor, step->scratch);
    double square = w->kernels->look_ahead(w->x, kept, old, gradient, tensor->size, step->scale, momentum);
    double norm = fmax(sqrt(square), 1e-7);
    w->kernels->add_scaled(w->x, NULL, w->x, (scalar)(root / norm), tensor->size);
    for (const int *part = w->rows == w->columns ? square_parts : parts; *part; part++)
        iterate(w, *part);
    return 1 / root * factor_of(tensor);
}

static void muon_step(struct optimiser *o, const struct tensor *tensor, const struct step *step,
    scalar *weights, const scalar *gradient)
{
    struct orthogonal w;
    double factor = muon_update(&w, o, tensor, step, o->first + tensor->offset, gradient);

    optimiser_descend(o, step, weights, w.x, tensor->size, factor);
}

static struct sums muon_sums(const struct optimiser *o, const struct tensor *tensor, const struct step *step,
    const scalar *weights, const scalar *gradient)
{
    struct orthogonal w;
    double factor = muon_update(&w, o, tensor, step, NULL, gradient);
    struct sums sums = o->team.kernels->sums(weights, w.x, tensor->size);

    return (struct sums){.square = factor * factor * sums.square, .product = factor * sums.product};
}

/* All singular values are 1. */
static double muon_full(
    const struct optimiser_options *options, const struct tensor *tensor, double norm, double whole)
{
    (void)options, (void)norm, (void)whole;
    return factor_of(tensor) *
           sqrt((double)(tensor->rows < tensor->columns ? tensor->rows : tensor->columns));
}

/* The arithmetic of the products: 20 n^3 of a square matrix, of a longer one 14 n^3 and two products each
 * with X, one of them symmetric, in both parts. */
static int64_t muon_work(const struct tensor *tensor)
{
    bool square = tensor->rows == tensor->columns;
    int64_t n = tensor->rows < tensor->columns ? tensor->rows : tensor->columns;

    return (square ? 20 : 14) * n * n * n + (square ? 0 : 6) * n * tensor->size;
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
    .own_scratch = muon_scratch,
    .work = muon_work,
    .second_size = no_second,
    .step = muon_step,
    .sums = muon_sums,
    .full = muon_full,
    .memory = muon_memory};
