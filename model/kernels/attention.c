/*
 * Attention: forward, gradient, and how many positions each query attends to. The gradient computes the
 * attention weights again from the statistics of the forward pass.
 */
#include "model/kernels/attention_work.h"

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
    const vector tie = vector_select(most < 0, -most, most) * (scalar)HARD_TIE;
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

/* The largest scores of a vector of queries. NaN may be passed over. */
INLINE vector largest(const scalar *column, int64_t seen)
{
    vector even = vector_load(column), odd = even;
    int64_t key = 1;

    for (; key + 2 <= seen; key += 2) {
        odd = vector_larger(vector_load(column + key * QUERY_BLOCK), odd);
        even = vector_larger(vector_load(column + (key + 1) * QUERY_BLOCK), even);
    }
    if (key < seen)
        odd = vector_larger(vector_load(column + key * QUERY_BLOCK), odd);
    return vector_larger(even, odd);
}

/* Stores what a vector of queries has, as far as there are queries. */
static void store_queries(const struct head *head, scalar *to, int64_t query, vector value)
{
    memcpy(to + query, &value, (size_t)at_most(head->queries - query, LANES) * sizeof(scalar));
}

/* Replaces scores by weights, not yet divided by their sums; head->inverse receives the inverse sums. */
static void weigh(const struct attention_work *work, scalar *column, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    int64_t seen = keys_of_vector(head, query, keys);

    if (head->bias)
        scale_scores(work, column, head->bias, query, seen);
    hide(head, column, query, seen, -(scalar)INFINITY);
    vector most = largest(column, seen);
    vector inverse = 1 / (head->hard ? choose(column, most, seen) : soften(work, column, most, seen));
    clear(column, seen, keys);
    store_queries(head, head->most, query, most);
    store_queries(head, head->inverse, query, inverse);
}

/* The columns of a block of queries, panel by panel. */
static void weigh_block(const struct attention_work *work, int64_t first, int64_t last)
{
    const struct head *head = work->head;

    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        scalar *panel = work->weights.at + query - first;
        int64_t keys = keys_of_panel(head, query);
        score(work, panel, work->keys, work->queries + query, keys, false);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
            weigh(work, panel + i, query + i, keys);
    }
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

/* The largest scores among the keys up to each of a vector of queries. */
static vector largest_before(const scalar *column, int64_t query, int64_t keys)
{
    const vector_index lane = vector_lanes();
    vector most = vector_load(column);

    for (int64_t key = 1; key < at_most(query + LANES, keys); key++) {
        const vector_index hidden = lane < (lane_index)at_most(key - query, LANES);
        const vector score = vector_load(column + key * QUERY_BLOCK);
        most = vector_larger(vector_select(hidden, most, score), most);
    }
    return most;
}

/* What a vector of queries attends to, from its scores. Hidden keys have e = 0, and ln e = -infinity. */
static void sum_attended(
    const struct attention_work *work, scalar *column, int64_t query, int64_t keys, const struct attended *of)
{
    const struct head *head = work->head;
    int64_t seen = keys_of_vector(head, query, keys);
    vector sum = {0}, product = {0};

    if (head->bias)
        scale_scores(work, column, head->bias, query, seen);
    store_queries(head, of->largest, query,
        work->scale *
            (head->mask == MASK_NONE ? largest(column, seen) : largest_before(column, query, seen)));
    hide(head, column, query, seen, -(scalar)INFINITY);
    const vector most = largest(column, seen);
    for (int64_t key = 0; key < seen; key++) {
        const vector z = work->scale * (vector_load(column + key * QUERY_BLOCK) - most);
        const vector e = vector_exponential(z);
        sum += e;
        product += vector_select(e > 0, e * z, (vector){0});
    }
    store_queries(head, of->sum, query, sum);
    store_queries(head, of->product, query, product);
    store_queries(head, of->first, query, vector_exponential(work->scale * (vector_load(column) - most)));
}

void KERNEL(attended)(const struct head *head, const struct attended *of, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);

    work.queries = transposed(&work, head->q, head->q_stride);
    work.keys = rows_along(&work, head->k, head->kv_stride);
    work.weights = take_panel(&work);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        if (of->count)
            weigh_block(&work, first, last);
        for (int64_t query = first; of->count && query < last; query += LANES)
            count_attended(&work, work.weights.at + query - first, query, of->count);
        for (int64_t query = first; !of->count && query < last; query += TILE_COLUMNS) {
            scalar *panel = work.weights.at + query - first;
            int64_t keys = keys_of_panel(head, query);
            score(&work, panel, work.keys, work.queries + query, keys, false);
            for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
                sum_attended(&work, panel + i, query + i, keys, of);
        }
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
    struct factor_rows values = rows_across(&work, head->v, head->kv_stride, head->keys);
    struct rows out = rows_to_write(&work, mixed, mixed_stride, head->queries, false);

    work.queries = transposed(&work, head->q, head->q_stride);
    work.keys = rows_along(&work, head->k, head->kv_stride);
    work.weights = take_panel(&work);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        weigh_block(&work, first, last);
        pack_block(&work, &work.weights, head->inverse, first, last);
        mix(&work, out, work.weights, values, first, last, false);
        if (!BFLOAT16_PRODUCTS)
            divide_rows(&work, out, first, last);
    }
    write_back(&work, out, mixed, mixed_stride, head->queries);
}

/* For a vector of queries: replaces the scores p by attention weights, and the gradients d of the weights by
 * the gradients of the scores: scale * p[k] * (d[k] - sum over j of p[j] d[j]). */
static void differentiate(
    const struct attention_work *work, scalar *p, scalar *d, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    const vector most = statistics(head->most, query, head->queries);
    const vector inverse = statistics(head->inverse, query, head->queries);
    int64_t seen = keys_of_vector(head, query, keys);
    vector sum = {0};

    if (head->bias)
        scale_scores(work, p, head->bias, query, seen);
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
    if (work->dbias)
        gather_distances(work, d, query, seen);
    if (head->bias)
        scale_scores(work, d, NULL, query, seen);
    clear(p, seen, keys);
    clear(d, seen, keys);
}

static void differentiate_block(const struct attention_work *work, int64_t first, int64_t last)
{
    const struct head *head = work->head;

    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        int64_t column = query - first, keys = keys_of_panel(head, query);
        scalar *p = work->weights.at + column, *d = work->dscores.at + column;
        score(work, p, work->keys, work->queries + query, keys, false);
        score(work, d, work->values, work->dout + query, keys, false);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES) {
            differentiate(work, p + i, d + i, query + i, keys);
            pack_panel(work, &work->weights, column + i, vector_all(1), query + i, keys);
            pack_panel(work, &work->dscores, column + i, vector_all(1), query + i, keys);
        }
    }
}

void KERNEL(attention_gradient)(const struct head *head, const struct head_gradient *g, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);
    const struct factor_rows q = rows_across(&work, head->q, head->q_stride, head->queries);
    const struct factor_rows k = rows_across(&work, head->k, head->kv_stride, head->keys);
    const struct factor_rows dout = rows_across(&work, g->dmixed, g->mixed_stride, head->queries);
    const struct rows query = rows_to_write(&work, g->dq, head->q_stride, head->queries, false);
    const struct rows key = rows_to_write(&work, g->dk, head->kv_stride, head->keys, g->add);
    const struct rows value = rows_to_write(&work, g->dv, head->kv_stride, head->keys, g->add);

    work.dbias = g->dbias;
    work.queries = transposed(&work, head->q, head->q_stride);
    work.dout = transposed(&work, g->dmixed, g->mixed_stride);
    work.keys = rows_along(&work, head->k, head->kv_stride);
    work.values = rows_along(&work, head->v, head->kv_stride);
    work.weights = take_panel(&work);
    work.dscores = take_panel(&work);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        differentiate_block(&work, first, last);
        mix(&work, query, work.dscores, k, first, last, false);
        gather_rows(&work, value, work.weights, dout, first, last, g->add);
        gather_rows(&work, key, work.dscores, q, first, last, g->add);
    }
    write_back(&work, query, g->dq, head->q_stride, head->queries);
    write_back(&work, key, g->dk, head->kv_stride, head->keys);
    write_back(&work, value, g->dv, head->kv_stride, head->keys);
}
