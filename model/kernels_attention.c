/*
 * Attention of one head over one sequence. Queries go through in tiles of TILE_ROWS rows, whose scores never
 * leave the first-level cache; under the causal mask a tile runs along the keys up to its last query only.
 * The gradient forms the attention weights anew from the forward pass's statistics, for a block of queries at
 * a time.
 *
 * T, D: length and depth of the head; Tp, Dp: rounded up to whole panels and vectors, so that no loop has a
 * rest.
 */
#include "model/kernels_vector.h"

enum { QUERY_BLOCK = 8 * TILE_ROWS };

/* Rows of D scalars that products read or write as rows of Dp: in place where D fills its vectors. */
struct rows {
    scalar *at;
    int64_t stride;
};

struct work {
    const struct head *head;
    int64_t padded_length, padded_depth; /* Tp, Dp */
    scalar scale;
    scalar *free; /* the scratch that is left */
    scalar *keys, *values; /* [D][Tp] transposed; values for the gradient alone */
    scalar *weights; /* [TILE_ROWS or QUERY_BLOCK][Tp] */
    scalar *dscores; /* [QUERY_BLOCK][Tp] */
};

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static scalar *take(struct work *work, int64_t count)
{
    scalar *taken = work->free;

    work->free += round_up(count, 64 / (int64_t)sizeof(scalar));
    return taken;
}

static struct work begin_work(const struct head *head, scalar *scratch)
{
    return (struct work){.head = head,
        .padded_length = round_up(head->length, TILE_COLUMNS),
        .padded_depth = round_up(head->depth, LANES),
        .scale = 1 / scalar_sqrt((scalar)head->depth),
        .free = scratch};
}

static scalar *transposed(struct work *work, const scalar *from)
{
    const struct head *head = work->head;
    scalar *to = take(work, head->depth * work->padded_length);

    for (int64_t i = 0; i < work->padded_length; i += LANES)
        transpose_rows(to + i, work->padded_length, from + i * head->stride, head->stride, head->length - i,
            head->depth);
    return to;
}

static bool fills_vectors(const struct work *work)
{
    return work->padded_depth == work->head->depth;
}

static struct rows rows_to_read(struct work *work, const scalar *from, int64_t stride)
{
    int64_t wide = work->padded_depth, depth = work->head->depth;

    if (fills_vectors(work))
        return (struct rows){(scalar *)from, stride};
    scalar *copy = take(work, work->head->length * wide);
    for (int64_t i = 0; i < work->head->length; i++) {
        memcpy(copy + i * wide, from + i * stride, (size_t)depth * sizeof(*copy));
        memset(copy + i * wide + depth, 0, (size_t)(wide - depth) * sizeof(*copy));
    }
    return (struct rows){copy, wide};
}

static struct rows rows_to_write(struct work *work, scalar *to, int64_t stride)
{
    if (fills_vectors(work))
        return (struct rows){to, stride};
    return (struct rows){take(work, work->head->length * work->padded_depth), work->padded_depth};
}

static void write_back(const struct work *work, struct rows rows, scalar *to, int64_t stride)
{
    if (fills_vectors(work))
        return;
    for (int64_t i = 0; i < work->head->length; i++)
        memcpy(to + i * stride, rows.at + i * rows.stride, (size_t)work->head->depth * sizeof(*to));
}

/* The tile's product over all of its columns, `wide` of them. */
static void run_wide(struct tile tile, int64_t rows, int64_t wide)
{
    for (int64_t j = 0; j < wide; j += TILE_COLUMNS, tile.b += TILE_COLUMNS, tile.c += TILE_COLUMNS)
        KERNEL(tile)(&tile, rows, at_most((wide - j) / LANES, TILE_VECTORS));
}

/* Keys that the queries up to `last` see. */
static int64_t keys_until(const struct head *head, int64_t last)
{
    return head->multiplicative ? head->length : last;
}

/* scores [rows][Tp] = the rows of `from` from `first` on times the columns of `columns` [D][Tp], `count` of
 * them. */
static void score(const struct work *work, scalar *scores, const scalar *from, int64_t stride, int64_t rows,
    const scalar *columns, int64_t count)
{
    run_wide((struct tile){.a = from,
                 .a_row = stride,
                 .a_step = 1,
                 .b = columns,
                 .b_row = work->padded_length,
                 .depth = work->head->depth,
                 .c = scores,
                 .c_row = work->padded_length},
        rows, round_up(count, TILE_COLUMNS));
}

/* The first `count` lanes of a vector. */
INLINE vector_index first_lanes(int64_t count)
{
    return vector_lanes() < (lane_index)count;
}

/* How many scores of query i take part in its softmax; those that the multiplicative mask hides do, as 0. */
static int64_t taking_part(const struct head *head, scalar *scores, int64_t i)
{
    if (!head->multiplicative)
        return i + 1;
    for (int64_t j = i + 1; j < head->length; j++)
        scores[j] = 0;
    return head->length;
}

/* Whole vectors: what lies behind the first `count` of a row's last vector becomes `rest`. */
static int64_t fill_vector(scalar *row, int64_t count, scalar rest)
{
    int64_t whole = count / LANES * LANES;

    if (whole == count)
        return count;
    vector_store(
        row + whole, vector_select(first_lanes(count - whole), vector_load(row + whole), vector_all(rest)));
    return whole + LANES;
}

static void clear(scalar *row, int64_t from, int64_t to)
{
    for (int64_t j = from; j < to; j += LANES)
        vector_store(row + j, (vector){0});
}

static scalar largest(const scalar *x, int64_t padded)
{
    vector most = vector_load(x);

    for (int64_t j = LANES; j < padded; j += LANES) {
        vector next = vector_load(x + j);
        most = vector_select(next > most, next, most);
    }
    return vector_largest(most);
}

/* x[j] = exp(scale * (x[j] - most)); their sum. */
static scalar exponentials(scalar *x, scalar scale, scalar most, int64_t padded)
{
    vector sum = {0};

    for (int64_t j = 0; j < padded; j += LANES) {
        vector e = vector_exponential(scale * (vector_load(x + j) - most));
        vector_store(x + j, e);
        sum += e;
    }
    return vector_sum(sum);
}

/* Rows of weights, not yet divided by their sums, which go to head->inverse; 0 up to `reach`. */
static void weigh(const struct work *work, scalar *weights, int64_t first, int64_t rows, int64_t reach)
{
    const struct head *head = work->head;

    for (int64_t i = 0; i < rows; i++) {
        scalar *row = weights + i * work->padded_length;
        int64_t padded = fill_vector(row, taking_part(head, row, first + i), -(scalar)INFINITY);
        scalar most = largest(row, padded);
        head->most[first + i] = most;
        head->inverse[first + i] = 1 / exponentials(row, work->scale, most, padded);
        clear(row, padded, reach);
    }
}

/* Divides the rows that came of such weights. */
static void divide(const struct work *work, struct rows out, int64_t first, int64_t rows)
{
    for (int64_t i = first; i < first + rows; i++)
        for (int64_t d = 0; d < work->padded_depth; d += LANES) {
            scalar *at = out.at + i * out.stride + d;
            vector_store(at, vector_load(at) * work->head->inverse[i]);
        }
}

void KERNEL(attention)(const struct head *head, scalar *mixed, int64_t mixed_stride, scalar *scratch)
{
    struct work work = begin_work(head, scratch);
    scalar *keys = transposed(&work, head->k), *weights = take(&work, TILE_ROWS * work.padded_length);
    struct rows values = rows_to_read(&work, head->v, head->stride);
    struct rows out = rows_to_write(&work, mixed, mixed_stride);

    for (int64_t first = 0; first < head->length; first += TILE_ROWS) {
        int64_t rows = at_most(head->length - first, TILE_ROWS), seen = keys_until(head, first + rows);
        score(&work, weights, head->q + first * head->stride, head->stride, rows, keys, seen);
        weigh(&work, weights, first, rows, round_up(seen, TILE_COLUMNS));
        run_wide((struct tile){.a = weights,
                     .a_row = work.padded_length,
                     .a_step = 1,
                     .b = values.at,
                     .b_row = values.stride,
                     .depth = seen,
                     .c = out.at + first * out.stride,
                     .c_row = out.stride},
            rows, work.padded_depth);
        divide(&work, out, first, rows);
    }
    write_back(&work, out, mixed, mixed_stride);
}

/*
 * p[j], a score, becomes query i's attention weight, and d[j], the gradient of the weight, that of the score:
 * scale * p[j] * (d[j] - sum over k of p[k] d[k]).
 */
static void softmax_gradient(
    const struct head *head, scalar *p, scalar *d, scalar scale, int64_t i, int64_t padded)
{
    scalar most = head->most[i], inverse = head->inverse[i];
    vector sum = {0};

    for (int64_t j = 0; j < padded; j += LANES) {
        vector weight = vector_exponential(scale * (vector_load(p + j) - most)) * inverse;
        vector_store(p + j, weight);
        sum += weight * vector_load(d + j);
    }
    scalar all = vector_sum(sum);
    for (int64_t j = 0; j < padded; j += LANES)
        vector_store(d + j, scale * vector_load(p + j) * (vector_load(d + j) - all));
}

/* Weights and dscores of `rows` queries from `first` on. */
static void differentiate(const struct work *work, scalar *weights, scalar *dscores, int64_t first,
    int64_t rows, const scalar *dmixed, int64_t dmixed_stride)
{
    const struct head *head = work->head;
    int64_t seen = keys_until(head, first + rows), reach = round_up(seen, TILE_COLUMNS);

    score(work, weights, head->q + first * head->stride, head->stride, rows, work->keys, seen);
    score(work, dscores, dmixed + first * dmixed_stride, dmixed_stride, rows, work->values, seen);
    for (int64_t i = 0; i < rows; i++) {
        scalar *p = weights + i * work->padded_length, *d = dscores + i * work->padded_length;
        int64_t visible = first + i + 1, count = taking_part(head, p, first + i);
        fill_vector(d, count, 0);
        int64_t padded = fill_vector(p, count, -(scalar)INFINITY);
        softmax_gradient(head, p, d, work->scale, first + i, padded);
        clear(p, padded, reach);
        clear(d, fill_vector(d, visible, 0), reach); /* a score multiplied by 0 moves nothing */
    }
}

/*
 * to[key] (+)= the sum over the block's queries of factor[query][key] * from[query], for the keys that they
 * see. Keys below the block have been written by the blocks before it.
 */
static void gather(const struct work *work, struct rows to, const scalar *factor, struct rows from,
    int64_t first, int64_t last)
{
    const struct head *head = work->head;
    int64_t seen = keys_until(head, last);

    for (int64_t key = 0; key < seen; key += TILE_ROWS) {
        int64_t query = head->multiplicative || key < first ? first : key;
        run_wide((struct tile){.a = factor + (query - first) * work->padded_length + key,
                     .a_row = 1,
                     .a_step = work->padded_length,
                     .b = from.at + query * from.stride,
                     .b_row = from.stride,
                     .depth = last - query,
                     .c = to.at + key * to.stride,
                     .c_row = to.stride,
                     .add = head->multiplicative ? first > 0 : key < first},
            at_most(seen - key, TILE_ROWS), work->padded_depth);
    }
}

void KERNEL(attention_gradient)(const struct head *head, scalar *dq, scalar *dk, scalar *dv,
    const scalar *dmixed, int64_t dmixed_stride, scalar *scratch)
{
    struct work work = begin_work(head, scratch);
    struct rows q = rows_to_read(&work, head->q, head->stride),
                k = rows_to_read(&work, head->k, head->stride);
    struct rows dout = rows_to_read(&work, dmixed, dmixed_stride);
    struct rows query = rows_to_write(&work, dq, head->stride), key = rows_to_write(&work, dk, head->stride);
    struct rows value = rows_to_write(&work, dv, head->stride);

    work.keys = transposed(&work, head->k);
    work.values = transposed(&work, head->v);
    work.weights = take(&work, QUERY_BLOCK * work.padded_length);
    work.dscores = take(&work, QUERY_BLOCK * work.padded_length);
    for (int64_t first = 0; first < head->length; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->length);
        for (int64_t i = first; i < last; i += TILE_ROWS) {
            int64_t rows = at_most(last - i, TILE_ROWS), at = (i - first) * work.padded_length;
            differentiate(&work, work.weights + at, work.dscores + at, i, rows, dmixed, dmixed_stride);
            run_wide((struct tile){.a = work.dscores + at,
                         .a_row = work.padded_length,
                         .a_step = 1,
                         .b = k.at,
                         .b_row = k.stride,
                         .depth = keys_until(head, i + rows),
                         .c = query.at + i * query.stride,
                         .c_row = query.stride},
                rows, work.padded_depth);
        }
        gather(&work, value, work.weights, dout, first, last);
        gather(&work, key, work.dscores, q, first, last);
    }
    write_back(&work, query, dq, head->stride);
    write_back(&work, key, dk, head->stride);
    write_back(&work, value, dv, head->stride);
}
