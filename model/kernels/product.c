/*
 * Matrix products by a team, in shares of rows or columns: by the tiles of the vector level (tile.c) if
 * it has them, else by BLAS, which knows neither residual nor bias, relu or gate: these are applied to
 * its results.
 */
#include "model/kernels/kernels.h"

#include "model/core/check.h"

/* The product of rows [begin, end) of c alone. */
static struct product rows_of(const struct product *whole, int64_t begin, int64_t end)
{
    struct product part = *whole;

    part.m = end - begin;
    part.a += whole->a_transposed ? begin : begin * whole->a_stride;
    part.c += begin * whole->c_stride;
    if (whole->residual)
        part.residual += begin * whole->c_stride;
    if (whole->gate)
        part.gate += begin * whole->c_stride;
    return part;
}

/* The product of columns [begin, end) of c alone. */
static struct product columns_of(const struct product *whole, int64_t begin, int64_t end)
{
    struct product part = *whole;

    part.n = end - begin;
    part.b += whole->b_transposed ? begin * whole->b_stride : begin;
    part.c += begin;
    if (whole->residual)
        part.residual += begin;
    if (whole->bias)
        part.bias += begin;
    if (whole->gate)
        part.gate += begin;
    return part;
}

/* BLAS has no residual, bias, relu or gate: c starts from the first two, the others follow, row by row. */
static void blas_product(const struct kernels *kernels, const struct product *p)
{
    bool start = p->residual || p->bias;

    for (int64_t i = 0; start && i < p->m; i++) {
        scalar *c = p->c + i * p->c_stride;
        const scalar *residual = p->residual ? p->residual + i * p->c_stride : NULL;
        if (p->add && residual)
            kernels->add(c, c, residual, p->n);
        if (p->bias || !p->add)
            kernels->add(c, p->add ? c : residual, p->bias, p->n);
    }
    scalar_gemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
        p->b_transposed ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1, p->a,
        (int)p->a_stride, p->b, (int)p->b_stride, p->add || start, p->c, (int)p->c_stride);
    for (int64_t i = 0; i < p->m; i++) {
        if (p->relu)
            kernels->relu(p->c + i * p->c_stride, p->n);
        if (p->gate)
            kernels->relu_gradient(p->c + i * p->c_stride, p->gate + i * p->c_stride, p->n);
    }
}

/* Rows by rows, each as far as the diagonal. */
static void blas_symmetric(const struct kernels *kernels, const struct product *p)
{
    enum { ROWS = 64 };

    for (int64_t row = 0; row < p->m; row += ROWS) {
        struct product part = rows_of(p, row, p->m - row < ROWS ? p->m : row + ROWS);
        part.n = row + part.m;
        blas_product(kernels, &part);
    }
}

void product_alone(const struct kernels *kernels, const struct product *product, scalar *scratch)
{
    const void *joined = product->residual ? product->residual
                         : product->bias   ? product->bias
                                           : product->gate;

    INVARIANT(!product->symmetric || (product->m == product->n && !product->add && !product->relu && !joined),
        "a symmetric product of %lld x %lld that more is added to", (long long)product->m,
        (long long)product->n);
    if (kernels->own_product)
        kernels->product(product, scratch);
    else if (product->symmetric)
        blas_symmetric(kernels, product);
    else
        blas_product(kernels, product);
    if (product->symmetric)
        kernels->mirror(product->c, product->n, product->c_stride);
}

struct product_work {
    const struct team *team;
    const struct product *product;
    bool by_columns;
};

static void compute_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct product_work *work = context;
    const struct product part =
        work->by_columns ? columns_of(work->product, begin, end) : rows_of(work->product, begin, end);

    product_alone(work->team->kernels, &part, scratch);
}

/* Every share packs the part of b that it needs: shares of columns pack b once, shares of rows many times. */
void product_run(const struct team *team, const struct product *product)
{
    enum { ROWS = 96, COLUMNS = 32 }; /* multiples of every level's tile, see factor.h */
    const struct product_work work = {team, product, product->n > product->m};
    int64_t others = product->k * (work.by_columns ? product->m : product->n);
    const struct items items = {.count = work.by_columns ? product->n : product->m,
        .multiple = work.by_columns ? COLUMNS : ROWS,
        .nanoseconds = PRODUCT_NANOSECONDS * (double)others};

    INVARIANT(product->m > 0 && product->n > 0 && product->k > 0 && !product->symmetric,
        "a product of %lld x %lld x %lld%s", (long long)product->m, (long long)product->n,
        (long long)product->k, product->symmetric ? ", symmetric" : "");
    INVARIANT(team->scratch_size >= PRODUCT_SCRATCH, "scratch of %lld", (long long)team->scratch_size);
    team_run(team, items, compute_share, &work);
}
