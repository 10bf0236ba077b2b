/*
 * Tangents of attention and of its gradient. With scores s = scale q k^T + bias, weights p = softmax(s), d =
 * dmixed v^T and sums over the keys that a query sees, a dot for tangents:
 *     p. = p (s. - sum p s.)                     mixed. = p. v + p v.
 *     ds = p (d - sum p d)                       ds. = p. (d - sum p d) + p (d. - sum (p. d + p d.))
 * Both compute the attention weights again from the statistics of the forward pass.
 */
#include "model/kernels/attention_work.h"

/* Takes what both tangents need: q, k and their tangents, and panels for weights and their tangents. */
static void begin_tangent(struct attention_work *work, const struct head *head, const struct head *tangent)
{
    work->tbias = tangent->bias;
    work->queries = transposed(work, head->q, head->q_stride);
    work->tqueries = transposed(work, tangent->q, tangent->q_stride);
    work->keys = rows_along(work, head->k, head->kv_stride);
    work->tkeys = rows_along(work, tangent->k, tangent->kv_stride);
    work->weights = take_panel(work);
    work->tweights = take_panel(work);
}

/* For a vector of queries: replaces scores p by attention weights, and tangents t by those of weights. */
static void soften_both(const struct attention_work *work, scalar *p, scalar *t, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    const vector most = statistics(head->most, query, head->queries);
    const vector inverse = statistics(head->inverse, query, head->queries);
    int64_t seen = keys_of_vector(head, query, keys);
    vector mean = {0};

    if (head->bias) {
        scale_scores(work, p, head->bias, query, seen);
        scale_scores(work, t, work->tbias, query, seen);
    }
    hide(head, p, query, seen, -(scalar)INFINITY);
    hide(head, t, query, seen, 0);
    for (int64_t key = 0; key < seen; key++) {
        int64_t at = key * QUERY_BLOCK;
        vector weight = vector_exponential(work->scale * (vector_load(p + at) - most)) * inverse;
        vector_store(p + at, weight);
        mean += weight * vector_load(t + at);
    }
    for (int64_t key = 0; key < seen; key++) {
        int64_t at = key * QUERY_BLOCK;
        vector_store(t + at, work->scale * vector_load(p + at) * (vector_load(t + at) - mean));
    }
    clear(p, seen, keys);
    clear(t, seen, keys);
}

static void weigh_both(const struct attention_work *work, int64_t first, int64_t last)
{
    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        int64_t column = query - first, keys = keys_of_panel(work->head, query);
        scalar *p = work->weights.at + column, *t = work->tweights.at + column;
        score(work, p, work->keys, work->queries + query, keys, false);
        score(work, t, work->keys, work->tqueries + query, keys, false);
        score(work, t, work->tkeys, work->queries + query, keys, true);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
            soften_both(work, p + i, t + i, query + i, keys);
    }
}

void KERNEL(attention_tangent)(const struct head *head, const struct head *tangent, scalar *tmixed,
    int64_t mixed_stride, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);
    struct factor_rows values = rows_across(&work, head->v, head->kv_stride, head->keys);
    struct factor_rows tvalues = rows_across(&work, tangent->v, tangent->kv_stride, head->keys);
    struct rows out = rows_to_write(&work, tmixed, mixed_stride, head->queries, false);

    begin_tangent(&work, head, tangent);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        weigh_both(&work, first, last);
        pack_block(&work, &work.weights, NULL, first, last);
        pack_block(&work, &work.tweights, NULL, first, last);
        mix(&work, out, work.tweights, values, first, last, false);
        mix(&work, out, work.weights, tvalues, first, last, true);
    }
    write_back(&work, out, tmixed, mixed_stride, head->queries);
}

/* For a vector of queries, from weights p and their tangents tp: replaces the gradients d of the weights by
 * those of the scores, and likewise their tangents td. */
static void differentiate_both(const struct attention_work *work, int64_t column, int64_t query, int64_t keys)
{
    const struct head *head = work->head;
    const scalar *p = work->weights.at + column, *tp = work->tweights.at + column;
    scalar *d = work->dscores.at + column, *td = work->tdscores.at + column;
    int64_t seen = keys_of_vector(head, query, keys);
    vector sum = {0}, tsum = {0};

    if (head->mask == MASK_CAUSAL) {
        hide(head, d, query, seen, 0);
        hide(head, td, query, seen, 0);
    }
    for (int64_t at = 0; at < seen * QUERY_BLOCK; at += QUERY_BLOCK) {
        vector weight = vector_load(p + at), gradient = vector_load(d + at);
        sum += weight * gradient;
        tsum += vector_load(tp + at) * gradient + weight * vector_load(td + at);
    }
    for (int64_t at = 0; at < seen * QUERY_BLOCK; at += QUERY_BLOCK) {
        vector weight = vector_load(p + at), about = vector_load(d + at) - sum;
        vector tabout = vector_load(td + at) - tsum;
        vector_store(td + at, work->scale * (vector_load(tp + at) * about + weight * tabout));
        vector_store(d + at, work->scale * weight * about);
    }
    hide(head, d, query, seen, 0); /* a score that the mask multiplies by 0 has no gradient */
    hide(head, td, query, seen, 0);
    if (work->dbias)
        gather_distances(work, td, query, seen);
    if (head->bias) {
        scale_scores(work, d, NULL, query, seen);
        scale_scores(work, td, NULL, query, seen);
    }
    clear(d, seen, keys);
    clear(td, seen, keys);
}

/* The panels of a block: weights and the gradients of scores, with the tangents of both. */
static void differentiate_block(const struct attention_work *work, int64_t first, int64_t last)
{
    const struct head *head = work->head;

    weigh_both(work, first, last);
    for (int64_t query = first; query < last; query += TILE_COLUMNS) {
        int64_t column = query - first, keys = keys_of_panel(head, query);
        scalar *d = work->dscores.at + column, *td = work->tdscores.at + column;
        score(work, d, work->values, work->dout + query, keys, false);
        score(work, td, work->values, work->tdout + query, keys, false);
        score(work, td, work->tvalues, work->dout + query, keys, true);
        for (int64_t i = 0; i < TILE_COLUMNS && query + i < last; i += LANES)
            differentiate_both(work, column + i, query + i, keys);
    }
    pack_block(work, &work->weights, NULL, first, last);
    pack_block(work, &work->tweights, NULL, first, last);
    pack_block(work, &work->dscores, NULL, first, last);
    pack_block(work, &work->tdscores, NULL, first, last);
}

void KERNEL(attention_gradient_tangent)(
    const struct head *head, const struct head *tangent, const struct head_gradient *g, scalar *scratch)
{
    struct attention_work work = begin_work(head, scratch);
    const struct factor_rows q = rows_across(&work, head->q, head->q_stride, head->queries);
    const struct factor_rows k = rows_across(&work, head->k, head->kv_stride, head->keys);
    const struct factor_rows dout = rows_across(&work, g->dmixed, g->mixed_stride, head->queries);
    const struct factor_rows tq = rows_across(&work, tangent->q, tangent->q_stride, head->queries);
    const struct factor_rows tk = rows_across(&work, tangent->k, tangent->kv_stride, head->keys);
    const struct factor_rows tdout = rows_across(&work, g->tdmixed, g->mixed_stride, head->queries);
    const struct rows query = rows_to_write(&work, g->dq, head->q_stride, head->queries, false);
    const struct rows key = rows_to_write(&work, g->dk, head->kv_stride, head->keys, g->add);
    const struct rows value = rows_to_write(&work, g->dv, head->kv_stride, head->keys, g->add);

    begin_tangent(&work, head, tangent);
    work.dbias = g->dbias;
    work.dout = transposed(&work, g->dmixed, g->mixed_stride);
    work.tdout = transposed(&work, g->tdmixed, g->mixed_stride);
    work.values = rows_along(&work, head->v, head->kv_stride);
    work.tvalues = rows_along(&work, tangent->v, tangent->kv_stride);
    work.dscores = take_panel(&work);
    work.tdscores = take_panel(&work);
    for (int64_t first = 0; first < head->queries; first += QUERY_BLOCK) {
        int64_t last = at_most(first + QUERY_BLOCK, head->queries);
        differentiate_block(&work, first, last);
        mix(&work, query, work.tdscores, k, first, last, false);
        mix(&work, query, work.dscores, tk, first, last, true);
        gather_rows(&work, value, work.tweights, dout, first, last, g->add);
        gather_rows(&work, value, work.weights, tdout, first, last, true);
        gather_rows(&work, key, work.tdscores, q, first, last, g->add);
        gather_rows(&work, key, work.dscores, tq, first, last, true);
    }
    write_back(&work, query, g->dq, head->q_stride, head->queries);
    write_back(&work, key, g->dk, head->kv_stride, head->keys);
    write_back(&work, value, g->dv, head->kv_stride, head->keys);
}
