/*
 * Attention of one head over one sequence, transposed: a column for each query of a block, a row for each
 * key, so that the softmax runs down columns of whole vectors and never sums across lanes. Under the causal
 * mask a panel of queries stops at the key of its last query. The gradient computes the attention weights
 * again from the statistics of the forward pass.
 *
 * Tq, Tk, D: queries, keys and depth of the head; Tp, Dp: rounded up to whole panels and vectors, so that
 * loops need no remainder.
 */
#include "model/kernels/vector.h"

enum { QUERY_BLOCK = 8 * TILE_ROWS };

_Static_assert((int)TILE_COLUMNS <= (int)ATTENTION_COLUMNS && (int)LANES <= (int)ATTENTION_LANES &&
                   (int)QUERY_BLOCK <= (int)ATTENTION_BLOCK,
    "attention_scratch() covers this level");

/* Under hard attention, scores within this share of the largest score tie with it. */
static const scalar HARD_TIE = (scalar)1e-6;

/* Rows of D scalars that products read or write as rows of Dp: in place if D fills whole vectors. */
struct rows {
    scalar *at;
    int64_t stride;
};

struct attention_work {
    const struct head *head;
    int64_t padded_length, padded_depth; /* Tp, Dp */
    scalar scale;
    scalar *free; /* the scratch that is left */
    scalar *queries, *dout; /* q and dmixed, transposed: [D][Tp]; dout only for the gradient */
    scalar *weights,
        *dscores; /* [T][QUERY_BLOCK] the columns of a block of queries; dscores only for the gradient */
};

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static scalar *take_scratch(struct attention_work *work, int64_t count)
{
    scalar *taken = work->free;

    work->free += round_up(count, 64 / (int64_t)sizeof(scalar));
    return taken;
}

static struct attention_work begin_work(const struct head *head, scalar *scratch)
{
    return (struct attention_work){.head = head,
        .padded_length = round_up(head->queries, TILE_COLUMNS),
        .padded_depth = round_up(head->depth, LANES),
        .scale = 1 / scalar_sqrt((scalar)head->depth),
        .free = scratch};
}

static scalar *transposed(struct attention_work *work, const scalar *from, int64_t stride)
{
    const struct head *head = work->head;
    scalar *to = take_scratch(work, head->depth * work->padded_length);

    for (int64_t i = 0; i < work->padded_length; i += LANES)
        transpose_rows(
            to + i, work->padded_length, from + i * stride, stride, head->queries - i, head->depth);
    return to;
}

static bool fills_vectors(const struct attention_work *work)
{
    return work->padded_depth == work->head->depth;
}

static struct rows rows_to_read(
    struct attention_work *work, const scalar *from, int64_t stride, int64_t count)
{
    int64_t wide = work->padded_depth, depth = work->head->depth;

    if (fills_vectors(work))
        return (struct rows){(scalar *)from, stride};
    scalar *copy = take_scratch(work, count * wide);
    for (int64_t i = 0; i < count; i++) {
        memcpy(copy + i * wide, from + i * stride, (size_t)depth * sizeof(*copy));
        memset(copy + i * wide + depth, 0, (size_t)(wide - depth) * sizeof(*copy));
    }
    return (struct rows){copy, wide};
}

static struct rows rows_to_write(struct attention_work *work, scalar *to, int64_t stride, int64_t count)
{
    if (fills_vectors(work))
        return (struct rows){to, stride};
    return (struct rows){take_scratch(work, count * work->padded_depth), work->padded_depth};
}

static void write_back(
    const struct attention_work *work, struct rows rows, scalar *to, int64_t stride, int64_t count)
{
    if (fills_vectors(work))
        return;
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * stride, rows.at + i * rows.stride, (size_t)work->head->depth * sizeof(*to));
}

/* The tile's product over all of its columns, `wide` of them. */
static void run_wide(struct tile tile, int64_t rows, int64_t wide)
{
    for (int64_t j = 0; j < wide; j += TILE_COLUMNS, tile.b += TILE_COLUMNS, tile.c += TILE_COLUMNS)
        KERNEL(tile)(&tile, rows, at_most((wide - j) / LANES, TILE_VECTORS));
}

/* Keys that the queries before `last` see. */
static int64_t keys_until(const struct head *head, int64_t last)
{
    return head->mask == MASK_CAUSAL ? at_most(last, head->keys) : head->keys;
}

/* The keys that a panel of queries computes: up to a whole last tile; `hide` masks what no query sees. */
static int64_t keys_of_panel(const struct head *head, int64_t query)
{
    return keys_until(head, round_up(query + TILE_COLUMNS, TILE_ROWS));
}

/* One panel of c [keys][QUERY_BLOCK] = the rows of `from`, one per key, times the panel `columns` of [D][Tp].
 */
static void score(const struct attention_work *work, scalar *c, const scalar *from, int64_t stride,
    const scalar *columns, int64_t keys)
{
    struct tile tile = {.a_row = stride,
        .a_step = 1,
        .b = columns,
        .b_row = work->padded_length,
        .depth = work->head->depth,
        .c_row = QUERY_BLOCK};

    for (int64_t key = 0; key < keys; key += TILE_ROWS) {
        tile.a = from + key * stride;
        tile.c = c + key * QUERY_BLOCK;
        KERNEL(tile)(&tile, at_most(keys - key, TILE_ROWS), TILE_VECTORS);
    }
}

/*
 * In the rows below `keys`, masks the keys behind each of the vector of queries at `query`: their entries
 * become `rest` under the causal mask, 0 under the multiplicative one.
 */
static void hide(const struct head *head, scalar *column, int64_t query, int64_t keys, scalar rest)
{
    const vector_index lane = vector_lanes();

    if (head->mask == MASK_NONE)
        return;
    rest = head->mask == MASK_MULTIPLICATIVE ? 0 : rest;
    for (int64_t key = query + 1; key < keys; key++) {
        scalar *at = column + key * QUERY_BLOCK;
        const vector_index hidden = lane < (lane_index)at_most(key - query, LANES);
        vector_store(at, vector_select(hidden, vector_all(rest), vector_load(at)));
    }
}

static void clear(scalar *column, int64_t from, int64_t to)
{
    for (int64_t key = from; key < to; key++)
        vector_store(column + key * QUERY_BLOCK, (vector){0});
}

/* How many of the panel's keys the vector of queries at `query` can see. */
static int64_t keys_of_vector(const struct head *head, int64_t query, int64_t keys)
{
    return head->mask == MASK_CAUSAL ? at_most(query + LANES, keys) : keys;
}

/* Replaces scores by exp(scale * (score - most)); returns the sums. */
INLINE vector soften(const struct attention_work *work, scalar *column, vector most, int64_t seen)
{
    vector sum = {0};

    for (int64_t key = 0; key < seen; key++) {
        scalar *at = column + key * QUERY_BLOCK;
        vector e = vector_exponential(work->scale * (vector_load(at) - most));
        vector_store(at, e);
        sum += e;
    }
    return sum;
}

/* Replaces scores by 1 if they tie with the largest, else by 0; NaN stays. Returns the sums. */
INLINE vector choose(scalar *column, vector most, int64_t seen)
{
    const vector tie = vector_select(most < 0, -most, most) * HARD_TIE;
    vector sum = {0};

    for (int64_t key = 0; key < seen; key++) {
        scalar *at = column + key * QUERY_BLOCK;
        vector below = most - vector_load(at);
        vector chosen =
            vector_select(below <= tie, vector_all(1), vector_select(below > tie, (vector){0}, below));
        vector_store(at, chosen);
        sum += chosen;
    }
    return sum;
}

/* Replaces scores by weights, not yet divided by their sums; head->inverse receives the inverse sums. */
static void weigh(const struct attention_work *work, scalar *column, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    int64_t seen = keys_of_vector(head, query, keys);
    size_t size = (size_t)at_most(head->queries - query, LANES) * sizeof(scalar);

    hide(head, column, query, seen, -(scalar)INFINITY);
    vector most = vector_load(column);
    for (int64_t key = 1; key < seen; key++) {
        vector next = vector_load(column + key * QUERY_BLOCK);
        most = vector_select(next > most, next, most);
    }
    vector inverse = 1 / (head->hard ? choose(column, most, seen) : soften(work, column, most, seen));
    clear(column, seen, keys);
    memcpy(head->most + query, &most, size);
    memcpy(head->inverse + query, &inverse, size);
}

/* The columns of a block of queries, panel by panel. */
static void weigh_block(const struct attention_work *work, int64_t first, int64_t last)
{
    const struct head *head = work->head;

    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        scalar *panel = work->weights + query - first;
        int64_t keys = keys_of_panel(head, query);
        score(work, panel, head->k, head->kv_stride, work->queries + query, keys);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
            weigh(work, panel + i, query + i, keys);
    }
}

/* The statistics of LANES queries; 0 after the last query. */
static vector statistics(const scalar *of, int64_t query, int64_t length)
{
    scalar lane[LANES] = {0};

    memcpy(lane, of + query, (size_t)at_most(length - query, LANES) * sizeof(*lane));
    return vector_load(lane);
}

/* Counts for a vector of queries the weights, not yet divided, that are above ATTENDED once divided. */
static void count_attended(
    const struct attention_work *work, const scalar *column, int64_t query, int32_t *count)
{
    const struct head *head = work->head;
    const vector inverse = statistics(head->inverse, query, head->queries);
    vector_index above = {0};

    for (int64_t key = 0; key < keys_until(head, query + LANES); key++)
        above -= vector_load(column + key * QUERY_BLOCK) * inverse > (scalar)ATTENDED;
    for (int lane = 0; lane < LANES && query + lane < head->queries; lane++)
        count[query + lane] = isnan(inverse[lane]) ? -1 : (int32_t)above[lane];
}

void KERNEL(attended)(const struct head *head, int32_t *count, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);

    work.queries = transposed(&work, head->q, head->q_stride);
    work.weights = take_scratch(&work, head->keys * QUERY_BLOCK);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        weigh_block(&work, first, last);
        for (int64_t query = first; query < last; query += LANES)
            count_attended(&work, work.weights + query - first, query, count);
    }
}

/* For a block of queries: to[query] = the sum over the keys that it sees of factor[key][query] * from[key].
 */
static void mix(const struct attention_work *work, struct rows to, const scalar *factor, struct rows from,
    int64_t first, int64_t last)
{
    for (int64_t query = first; query < last; query += TILE_ROWS) {
        int64_t rows = at_most(last - query, TILE_ROWS);
        run_wide((struct tile){.a = factor + query - first,
                     .a_row = 1,
                     .a_step = QUERY_BLOCK,
                     .b = from.at,
                     .b_row = from.stride,
                     .depth = keys_until(work->head, query + rows),
                     .c = to.at + query * to.stride,
                     .c_row = to.stride},
            rows, work->padded_depth);
    }
}

/* Divides the rows by the sums of their weights. */
static void divide_rows(const struct attention_work *work, struct rows out, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t d = 0; d < work->padded_depth; d += LANES) {
            scalar *at = out.at + i * out.stride + d;
            vector_store(at, vector_load(at) * work->head->inverse[i]);
        }
}

void KERNEL(attention)(const struct head *head, scalar *mixed, int64_t mixed_stride, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);
    struct rows values = rows_to_read(&work, head->v, head->kv_stride, head->keys);
    struct rows out = rows_to_write(&work, mixed, mixed_stride, head->queries);

    work.queries = transposed(&work, head->q, head->q_stride);
    work.weights = take_scratch(&work, head->keys * QUERY_BLOCK);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        weigh_block(&work, first, last);
        mix(&work, out, work.weights, values, first, last);
        divide_rows(&work, out, first, last);
    }
    write_back(&work, out, mixed, mixed_stride, head->queries);
}

/*
 * For a vector of queries: replaces the scores p by attention weights, and the gradients d of the weights by
 * the gradients of the scores: scale * p[k] * (d[k] - sum over j of p[j] d[j]).
 */
static void differentiate(
    const struct attention_work *work, scalar *p, scalar *d, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    const vector most = statistics(head->most, query, head->queries);
    const vector inverse = statistics(head->inverse, query, head->queries);
    int64_t seen = keys_of_vector(head, query, keys);
    vector sum = {0};

    hide(head, p, query, seen, -(scalar)INFINITY);
    if (head->mask == MASK_CAUSAL)
        hide(head, d, query, seen, 0);
    for (int64_t key = 0; key < seen; key++) {
        scalar *at = p + key * QUERY_BLOCK;
        vector weight = vector_exponential(work->scale * (vector_load(at) - most)) * inverse;
        vector_store(at, weight);
        sum += weight * vector_load(d + key * QUERY_BLOCK);
    }
    for (int64_t key = 0; key < seen; key++) {
        int64_t at = key * QUERY_BLOCK;
        vector_store(d + at, work->scale * vector_load(p + at) * (vector_load(d + at) - sum));
    }
    hide(head, d, query, seen, 0); /* a score that the mask multiplies by 0 has no gradient */
    clear(p, seen, keys);
    clear(d, seen, keys);
}

static void differentiate_block(const struct attention_work *work, int64_t first, int64_t last)
{
    const struct head *head = work->head;

    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        scalar *p = work->weights + query - first, *d = work->dscores + query - first;
        int64_t keys = keys_of_panel(head, query);
        score(work, p, head->k, head->kv_stride, work->queries + query, keys);
        score(work, d, head->v, head->kv_stride, work->dout + query, keys);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
            differentiate(work, p + i, d + i, query + i, keys);
    }
}

/*
 * For the keys that the block's queries see: to[key] = the sum over the queries of factor[key][query] *
 * from[query], added to what earlier blocks have written.
 */
static void gather_rows(const struct attention_work *work, struct rows to, const scalar *factor,
    struct rows from, int64_t first, int64_t last)
{
    const struct head *head = work->head;
    int64_t seen = keys_until(head, last);

    for (int64_t key = 0; key < seen; key += TILE_ROWS) {
        int64_t query = head->mask != MASK_CAUSAL || key < first ? first : key;
        run_wide((struct tile){.a = factor + key * QUERY_BLOCK + query - first,
                     .a_row = QUERY_BLOCK,
                     .a_step = 1,
                     .b = from.at + query * from.stride,
                     .b_row = from.stride,
                     .depth = last - query,
                     .c = to.at + key * to.stride,
                     .c_row = to.stride,
                     .add = head->mask == MASK_CAUSAL ? key < first : first > 0},
            at_most(seen - key, TILE_ROWS), work->padded_depth);
    }
}

void KERNEL(attention_gradient)(const struct head *head, scalar *dq, scalar *dk, scalar *dv,
    const scalar *dmixed, int64_t dmixed_stride, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);
    struct rows q = rows_to_read(&work, head->q, head->q_stride, head->queries);
    struct rows k = rows_to_read(&work, head->k, head->kv_stride, head->keys);
    struct rows dout = rows_to_read(&work, dmixed, dmixed_stride, head->queries);
    struct rows query = rows_to_write(&work, dq, head->q_stride, head->queries);
    struct rows key = rows_to_write(&work, dk, head->kv_stride, head->keys);
    struct rows value = rows_to_write(&work, dv, head->kv_stride, head->keys);

    work.queries = transposed(&work, head->q, head->q_stride);
    work.dout = transposed(&work, dmixed, dmixed_stride);
    work.weights = take_scratch(&work, head->keys * QUERY_BLOCK);
    work.dscores = take_scratch(&work, head->keys * QUERY_BLOCK);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        differentiate_block(&work, first, last);
        mix(&work, query, work.dscores, k, first, last);
        gather_rows(&work, value, work.weights, dout, first, last);
        gather_rows(&work, key, work.dscores, q, first, last);
    }
    write_back(&work, query, dq, head->q_stride, head->queries);
    write_back(&work, key, dk, head->kv_stride, head->keys);
    write_back(&work, value, dv, head->kv_stride, head->keys);
}
