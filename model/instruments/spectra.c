/*
 * Singular values of the matrices of the blocks, and of the products of two that each head is made of. They
 * are roots of the eigenvalues of Gram matrices, in double, by LAPACK's dsyev of the BLAS that is linked: of
 * the side that is shorter, or of a head's D rows. A BLAS without LAPACK leaves the weak reference NULL, and
 * spectra_available says so before anything is laid out. spectra_measure takes one block, so that the caller
 * can ask between blocks whether to go on.
 *
 * A sum of squares loses what is below a rounding error of the largest: sigma has an error of 1e-16 top^2 /
 * sigma. Everything runs on one thread, in one order: results do not depend on the threads of the run. Of a
 * matrix that is 0, ratios are NaN; of one that is not finite, everything is.
 */
#include "model/instruments/inside.h"

#include <float.h>

enum {
    CHUNK = 256, /* along the long side: of a matrix in double there is so much at a time */
    BLOCKING = 34, /* workspace of dsyev, for each row: 2, and its usual blocks of 32 */
};

/* Fortran: the lengths of both words follow behind all arguments. */
extern void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
    double *work, const int *lwork, int *info, size_t jobz_length, size_t uplo_length) __attribute__((weak));

bool spectra_available(void)
{
    return dsyev_ != NULL;
}

static bool is_matrix(enum tensor_kind kind)
{
    return tensor_table[kind].rows != EXTENT_ONE;
}

int64_t spectra_length(const struct architecture *a)
{
    int64_t longest = 0;

    for (enum tensor_kind kind = LAYER_TENSOR_FIRST; kind < LAYER_TENSOR_END; kind++) {
        int64_t rows = extent_length(a, tensor_table[kind].rows);
        int64_t columns = extent_length(a, tensor_table[kind].columns);
        int64_t side = rows < columns ? rows : columns;
        if (is_matrix(kind) && side > longest)
            longest = side;
    }
    return longest;
}

void spectra_layout(struct spectra *s, const struct weight_layout *layout, const struct architecture *a,
    bool values, struct arena *arena)
{
    int64_t depth = architecture_depth(a), length = spectra_length(a);
    size_t side = (size_t)(length > depth ? length : depth), blocks = (size_t)architecture_blocks(a);
    size_t tensors = blocks * LAYER_TENSOR_COUNT, heads = blocks * (size_t)a->heads;

    *s = (struct spectra){
        .top = arena_take(arena, tensors, sizeof(double)),
        .stable_rank = arena_take(arena, tensors, sizeof(double)),
        .over_noise = arena_take(arena, tensors, sizeof(double)),
        .entropy = arena_take(arena, tensors, sizeof(double)),
        .dead = arena_take(arena, tensors, sizeof(double)),
        .values = values ? arena_take(arena, tensors * (size_t)length, sizeof(double)) : NULL,
        .qk_rank = arena_take(arena, heads, sizeof(double)),
        .ov_rank = arena_take(arena, heads, sizeof(double)),
        .qk_imbalance = arena_take(arena, heads, sizeof(double)),
        .ov_imbalance = arena_take(arena, heads, sizeof(double)),
        .architecture = a,
        .layout = layout,
        .blocks = (int64_t)blocks,
        .length = length,
        .chunk = arena_take_scratch(arena, side * CHUNK, sizeof(double)),
        .work = arena_take_scratch(arena, side * BLOCKING, sizeof(double)),
        .eigenvalue = arena_take_scratch(arena, side, sizeof(double)),
        .gram = arena_take_scratch(arena, side * side, sizeof(double)),
        .first = arena_take_scratch(arena, (size_t)(depth * depth), sizeof(double)),
        .second = arena_take_scratch(arena, (size_t)(depth * depth), sizeof(double)),
        .half = arena_take_scratch(arena, (size_t)(depth * depth), sizeof(double)),
    };
}

/* A matrix within a tensor: at[row * stride + column]. */
struct slice {
    const scalar *at;
    int64_t rows, columns, stride;
};

/* The Gram matrix of the rows of a matrix, or of its columns: its lower triangle, gram[side][side]. */
static void take_gram(const struct spectra *s, struct slice m, bool of_rows, double *gram)
{
    int64_t side = of_rows ? m.rows : m.columns, along = of_rows ? m.columns : m.rows;

    for (int64_t begin = 0; begin < along; begin += CHUNK) {
        int64_t count = along - begin < CHUNK ? along - begin : CHUNK;
        int64_t rows = of_rows ? side : count, columns = of_rows ? count : side;
        const scalar *from = m.at + (of_rows ? begin : begin * m.stride);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                s->chunk[i * columns + j] = (double)from[i * m.stride + j];
        cblas_dsyrk(CblasRowMajor, CblasLower, of_rows ? CblasNoTrans : CblasTrans, (int)side, (int)count, 1,
            s->chunk, (int)columns, begin > 0, gram, (int)side);
    }
}

static double trace(const double *gram, int64_t side)
{
    double sum = 0;

    for (int64_t i = 0; i < side; i++)
        sum += gram[i * (side + 1)];
    return sum;
}

/* Sets s->eigenvalue, ascending, >= 0; with `vectors`, rows of gram become eigenvectors. -1: not finite. */
static int solve(const struct spectra *s, double *gram, int64_t side, bool vectors)
{
    const int n = (int)side, room = n * BLOCKING;
    int status = 0;

    if (!isfinite(trace(gram, side)))
        return -1;
    /* Columns first: the lower triangle is its upper one. */
    dsyev_(vectors ? "V" : "N", "U", &n, gram, &n, s->eigenvalue, s->work, &room, &status, 1, 1);
    for (int64_t i = 0; i < side; i++)
        s->eigenvalue[i] = fmax(s->eigenvalue[i], 0);
    return status == 0 ? 0 : -1;
}

static void measure_tensor(struct spectra *s, const struct tensor *tensor, const scalar *weights, int64_t at)
{
    const struct slice m = {weights + tensor->offset, tensor->rows, tensor->columns, tensor->columns};
    int64_t side = m.rows <= m.columns ? m.rows : m.columns;
    double *values = s->values ? s->values + at * s->length : NULL, sum = 0, entropy = 0;

    s->top[at] = s->stable_rank[at] = s->over_noise[at] = s->entropy[at] = NAN;
    for (int64_t i = 0; values && i < s->length; i++)
        values[i] = NAN;
    if (tensor->size == 0 || !is_matrix(tensor->kind))
        return;
    take_gram(s, m, m.rows <= m.columns, s->gram);
    double square = trace(s->gram, side);
    if (solve(s, s->gram, side, false) < 0)
        return;
    const double *eigenvalue = s->eigenvalue, largest = eigenvalue[side - 1];
    double noise = sqrt(square / (double)tensor->size) * (sqrt((double)m.rows) + sqrt((double)m.columns));
    for (int64_t i = 0; i < side; i++)
        sum += eigenvalue[i];
    for (int64_t i = 0; i < side; i++)
        entropy -= eigenvalue[i] > 0 ? eigenvalue[i] / sum * log(eigenvalue[i] / sum) : 0;
    for (int64_t i = 0; values && i < side; i++)
        values[i] = sqrt(eigenvalue[side - 1 - i]);
    s->top[at] = sqrt(largest);
    s->stable_rank[at] = square / largest;
    s->over_noise[at] = s->top[at] / noise;
    s->entropy[at] = largest > 0 ? exp(entropy) : NAN;
}

/* |a - b| over the sum of their traces, of lower triangles. */
static double balance(const double *a, const double *b, int64_t side)
{
    double sum = 0;

    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j <= i; j++) {
            double difference = a[i * side + j] - b[i * side + j];
            sum += (i == j ? 1 : 2) * difference * difference;
        }
    return sqrt(sum) / (trace(a, side) + trace(b, side));
}

/*
 * The product of two matrices through D dimensions, with the Gram matrices a and b there, has singular values
 * whose squares are the eigenvalues of R b R^T, where a = R^T R: R has the eigenvectors of a as rows, each
 * times the root of its eigenvalue. Overwrites a.
 */
static double rank(const struct spectra *s, double *a, const double *b, int64_t side)
{
    const int n = (int)side;
    double rounding = DBL_EPSILON * trace(a, side) * trace(b, side), above = 0;

    if (!isfinite(trace(b, side)) || solve(s, a, side, true) < 0)
        return NAN;
    for (int64_t i = 0; i < side; i++)
        cblas_dscal(n, sqrt(s->eigenvalue[i]), a + i * side, 1);
    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, n, n, 1, b, n, a, n, 0, s->half, n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, s->half, n, a, n, 0, s->gram, n);
    if (solve(s, s->gram, side, false) < 0)
        return NAN;
    double least = s->eigenvalue[side - 1] * (SPECTRA_RANK_PERCENT * SPECTRA_RANK_PERCENT / 1e4);
    least = fmax(least, rounding); /* of a product that is 0, too */
    for (int64_t i = 0; i < side; i++)
        above += s->eigenvalue[i] > least;
    return above;
}

/* Queries and keys, or values and what writes them out, of each head of a block's self-attention. Heads may
 * share keys and values. */
static void measure_heads(struct spectra *s, const scalar *weights, int64_t block)
{
    const struct architecture *a = s->architecture;
    const struct tensor *of = layer_tensor(s->layout, block * LAYER_TENSOR_COUNT);
    const struct tensor *q = of + (TENSOR_Q - LAYER_TENSOR_FIRST), *k = of + (TENSOR_K - LAYER_TENSOR_FIRST);
    const struct tensor *v = of + (TENSOR_V - LAYER_TENSOR_FIRST), *o = of + (TENSOR_O - LAYER_TENSOR_FIRST);
    int64_t depth = architecture_depth(a), width = a->width, shared = a->heads / architecture_kv_heads(a);

    for (int64_t head = 0; head < a->heads; head++) {
        int64_t at = block * a->heads + head, kv = head / shared * depth * width;
        const struct slice queries = {weights + q->offset + head * depth * width, depth, width, width};
        const struct slice keys = {weights + k->offset + kv, depth, width, width};
        const struct slice values = {weights + v->offset + kv, depth, width, width};
        const struct slice out = {weights + o->offset + head * depth, width, depth, o->columns};
        take_gram(s, queries, true, s->first);
        take_gram(s, keys, true, s->second);
        s->qk_imbalance[at] = balance(s->first, s->second, depth);
        s->qk_rank[at] = rank(s, s->first, s->second, depth);
        take_gram(s, values, true, s->first);
        take_gram(s, out, false, s->second);
        s->ov_imbalance[at] = balance(s->first, s->second, depth);
        s->ov_rank[at] = rank(s, s->first, s->second, depth);
    }
}

void spectra_measure(struct spectra *s, const scalar *weights, int64_t block)
{
    for (int64_t at = block * LAYER_TENSOR_COUNT; at < (block + 1) * LAYER_TENSOR_COUNT; at++)
        measure_tensor(s, layer_tensor(s->layout, at), weights, at);
    measure_heads(s, weights, block);
}

void spectra_judge(struct spectra *s, const struct instruments *i)
{
    for (int64_t at = 0; at < s->blocks * LAYER_TENSOR_COUNT; at++) {
        bool known = is_matrix(layer_tensor(s->layout, at)->kind) && !isnan(i->rms_equilibrium[at]) &&
                     !isnan(i->tensor_rms[at]);
        double alive = i->rms_equilibrium[at] * SPECTRA_ALIVE_PERCENT / 100;
        s->dead[at] = known ? i->tensor_rms[at] < alive : NAN;
    }
}
