#ifndef NORMSWEEP_MODEL_KERNELS_ATTENTION_WORK_H
#define NORMSWEEP_MODEL_KERNELS_ATTENTION_WORK_H

/*
 * What the kernels of attention share: one head over one sequence, transposed: a column for each query of a
 * block, a row for each key, so that the softmax runs down columns of whole vectors and never sums across
 * lanes. Under the causal mask a panel of queries stops at the key of its last query.
 *
 * Tq, Tk, D: queries, keys and depth of the head; Tp, Dp: rounded up to whole panels and vectors, so that
 * loops need no remainder.
 */
#include "model/kernels/factor.h"

enum { QUERY_BLOCK = 8 * TILE_ROWS };

_Static_assert((int)TILE_COLUMNS <= (int)ATTENTION_COLUMNS && (int)LANES <= (int)ATTENTION_LANES &&
                   (int)QUERY_BLOCK <= (int)ATTENTION_BLOCK,
    "attention_scratch() covers this level");
_Static_assert(QUERY_BLOCK % TILE_COLUMNS == 0 && TILE_ROWS % PAIR == 0 && LANES % PAIR == 0,
    "no panel, tile or vector ends within a pair, or crosses a block");

/* Rows of D scalars that products write as rows of Dp: in place if D fills whole vectors, else in a copy. */
struct rows {
    scalar *at;
    int64_t stride;
};

/* Rows of factors: a row for each position, along its depth; or a row for each PAIR of positions, [Dp]. */
struct factor_rows {
    const factor *at;
    int64_t stride;
};

/*
 * A panel: what each key and each query of a block have, [Tk][QUERY_BLOCK]. Once it is packed, `down` has its
 * factors along the keys, [Tk / PAIR][QUERY_BLOCK], and `across` those along the queries, [Tk][QUERY_BLOCK /
 * PAIR]. Where factors are scalars, both are the panel itself.
 */
struct panel {
    scalar *at;
    factor *down, *across;
};

/* What a kernel needs, as far as it needs it. The panels hold the columns of a block of queries. */
struct attention_work {
    const struct head *head;
    int64_t padded_length, padded_depth; /* Tp, Dp */
    scalar scale; /* times the panels of scores are the scores: 1 once they have their bias */
    scalar *free; /* the scratch that is left */
    factor *queries, *dout; /* q and dmixed, transposed: [D / PAIR][Tp] */
    struct factor_rows keys, values; /* k and v along their depth */
    struct panel weights, dscores;
    factor *tqueries, *tdout; /* the tangents of all six */
    struct factor_rows tkeys, tvalues;
    struct panel tweights, tdscores;
    const scalar *tbias; /* the tangent of head->bias, or NULL */
    scalar *dbias; /* where the gradient of head->bias is added, or its tangent; or NULL */
};

static inline scalar *take_scratch(struct attention_work *work, int64_t count)
{
    scalar *taken = work->free;

    work->free += round_up(count, 64 / (int64_t)sizeof(scalar));
    return taken;
}

static inline struct attention_work begin_work(const struct head *head, scalar *scratch)
{
    return (struct attention_work){.head = head,
        .padded_length = round_up(head->queries, TILE_COLUMNS),
        .padded_depth = round_up(head->depth, LANES),
        .scale = head->bias ? 1 : head->scale,
        .free = scratch};
}

static inline struct panel take_panel(struct attention_work *work)
{
    int64_t keys = work->head->keys;
    scalar *at = take_scratch(work, keys * QUERY_BLOCK);

    if (PAIR == 1)
        return (struct panel){at, factors_in(at), factors_in(at)};
    return (struct panel){at, factors_in(take_scratch(work, factors(keys) * QUERY_BLOCK)),
        factors_in(take_scratch(work, keys * QUERY_BLOCK / PAIR))};
}

/* Rows, one for each query, along their depth. */
static inline factor *transposed(struct attention_work *work, const scalar *from, int64_t stride)
{
    const struct head *head = work->head;
    factor *to = factors_in(take_scratch(work, factors(head->depth) * work->padded_length));

    for (int64_t i = 0; i < work->padded_length; i += LANES)
        transpose_rows(to + i, work->padded_length, i < head->queries ? from + i * stride : from, stride,
            head->queries - i, head->depth);
    return to;
}

/* Rows, one for each key, along their depth. */
static inline struct factor_rows rows_along(struct attention_work *work, const scalar *from, int64_t stride)
{
    if (!BFLOAT16_PRODUCTS)
        return (struct factor_rows){as_factors(from), stride};
    const struct head *head = work->head;
    int64_t wide = round_up(factors(head->depth), LANES);
    factor *to = factors_in(take_scratch(work, head->keys * wide));
    pack_rows(to, wide, from, stride, head->keys, head->depth);
    return (struct factor_rows){to, wide};
}

static inline bool fills_vectors(const struct attention_work *work)
{
    return work->padded_depth == work->head->depth;
}

/* `count` rows, one for each position, along the positions: each PAIR of them is a row [Dp]. */
static inline struct factor_rows rows_across(
    struct attention_work *work, const scalar *from, int64_t stride, int64_t count)
{
    int64_t wide = work->padded_depth, depth = work->head->depth;

    if (!BFLOAT16_PRODUCTS && fills_vectors(work))
        return (struct factor_rows){as_factors(from), stride};
    factor *to = factors_in(take_scratch(work, factors(count) * wide));
    for (int64_t i = 0; i < count; i += PAIR)
        pack_across(to + i / PAIR * wide, from + i * stride, stride, count - i, depth);
    return (struct factor_rows){to, wide};
}

/* `add`: products add to what the rows hold. */
static inline struct rows rows_to_write(
    struct attention_work *work, scalar *to, int64_t stride, int64_t count, bool add)
{
    int64_t wide = work->padded_depth, depth = work->head->depth;

    if (fills_vectors(work))
        return (struct rows){to, stride};
    scalar *copy = take_scratch(work, count * wide);
    for (int64_t i = 0; add && i < count; i++) {
        memcpy(copy + i * wide, to + i * stride, (size_t)depth * sizeof(*copy));
        memset(copy + i * wide + depth, 0, (size_t)(wide - depth) * sizeof(*copy));
    }
    return (struct rows){copy, wide};
}

static inline void write_back(
    const struct attention_work *work, struct rows rows, scalar *to, int64_t stride, int64_t count)
{
    if (fills_vectors(work))
        return;
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * stride, rows.at + i * rows.stride, (size_t)work->head->depth * sizeof(*to));
}

/* The tile's product over all of its columns, `wide` of them; b and c end behind them. */
static inline void run_wide(struct tile *tile, int64_t rows, int64_t wide)
{
    for (int64_t j = 0; j < wide; j += TILE_COLUMNS, tile->b += TILE_COLUMNS, tile->c += TILE_COLUMNS)
        KERNEL(tile)(tile, rows, at_most((wide - j) / LANES, TILE_VECTORS));
}

/* Keys that the queries before `last` see. */
static inline int64_t keys_until(const struct head *head, int64_t last)
{
    return head->mask == MASK_CAUSAL ? at_most(last, head->keys) : head->keys;
}

/* The keys that a panel of queries computes: up to a whole last tile; `hide` masks what no query sees. */
static inline int64_t keys_of_panel(const struct head *head, int64_t query)
{
    return keys_until(head, round_up(query + TILE_COLUMNS, TILE_ROWS));
}

/* One panel of c [keys][QUERY_BLOCK] = the rows of `from`, one per key, times the panel `columns` of
 * transposed rows, added to c if `add`. */
static inline void score(const struct attention_work *work, scalar *c, struct factor_rows from,
    const factor *columns, int64_t keys, bool add)
{
    struct tile tile = {.a_row = from.stride,
        .a_step = 1,
        .b = columns,
        .b_row = work->padded_length,
        .steps = factors(work->head->depth),
        .c_row = QUERY_BLOCK,
        .add = add};

    for (int64_t key = 0; key < keys; key += TILE_ROWS) {
        tile.a = from.at + key * from.stride;
        tile.c = c + key * QUERY_BLOCK;
        KERNEL(tile)(&tile, at_most(keys - key, TILE_ROWS), TILE_VECTORS);
    }
}

/* In the rows below `keys`, masks the keys behind each of the vector of queries at `query`: their entries
 * become `rest` under the causal mask, 0 under the multiplicative one. */
static inline void hide(const struct head *head, scalar *column, int64_t query, int64_t keys, scalar rest)
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

static inline void clear(scalar *column, int64_t from, int64_t to)
{
    for (int64_t key = from; key < to; key++)
        vector_store(column + key * QUERY_BLOCK, (vector){0});
}

/* The scores of a vector of queries with their bias, from q.k: the queries of a vector lie side by side in
 * the bias, too. The same for tangents; and, without bias, the gradient of q.k from that of the scores. */
static inline void scale_scores(
    const struct attention_work *work, scalar *column, const scalar *bias, int64_t query, int64_t seen)
{
    const scalar scale = work->head->scale;

    for (int64_t key = 0; key < seen; key++) {
        scalar *at = column + key * QUERY_BLOCK;
        vector of_distance = bias ? vector_load(bias + query - key) : (vector){0};
        vector_store(at, scale * vector_load(at) + of_distance);
    }
}

/*
 * Adds the gradients of the scores of a vector of queries to dbias, each at its distance. From key to key the
 * distance of every lane falls by one; so the sums move up by a lane, and leave at the last one: each is
 * added to memory once.
 */
static inline void gather_distances(
    const struct attention_work *work, const scalar *column, int64_t query, int64_t seen)
{
    const struct head *head = work->head;
    const vector_index real = vector_lanes() < (lane_index)at_most(head->queries - query, LANES);
    scalar *first = work->dbias + query;
    vector sums = {0};

    for (int64_t key = 0; key < seen; key++) {
        vector gradient = vector_load(column + key * QUERY_BLOCK);
        sums = vector_shift(sums) + vector_select(real, gradient, (vector){0});
        first[LANES - 1 - key] += sums[LANES - 1];
    }
    for (int lane = 0; lane < LANES - 1; lane++)
        first[lane - (seen - 1)] += sums[lane];
}

/* How many of the panel's keys the vector of queries at `query` can see. */
static inline int64_t keys_of_vector(const struct head *head, int64_t query, int64_t keys)
{
    return head->mask == MASK_CAUSAL ? at_most(query + LANES, keys) : keys;
}

/* The statistics of LANES queries; 0 after the last query. */
static inline vector statistics(const scalar *of, int64_t query, int64_t length)
{
    return query + LANES <= length ? vector_load(of + query) : vector_load_part(of + query, length - query);
}

/* A vector of a panel, times `times`; queries behind the last one have 0. */
static inline vector panel_value(
    const struct attention_work *work, const scalar *at, vector times, int64_t query)
{
    const vector_index real = vector_lanes() < (lane_index)at_most(work->head->queries - query, LANES);

    return vector_select(real, times * vector_load(at), (vector){0});
}

/* Packs what the vector of queries at `query`, the block's `column`, has below `keys`, times `times`. */
#ifdef BFLOAT16_PAIRS
static inline void pack_panel(const struct attention_work *work, const struct panel *panel, int64_t column,
    vector times, int64_t query, int64_t keys)
{
    const scalar *at = panel->at + column;
    factor *down = panel->down + column, *across = panel->across + column / PAIR;

    for (int64_t key = 0; key < keys; key += PAIR, at += PAIR * QUERY_BLOCK, down += QUERY_BLOCK) {
        vector first = panel_value(work, at, times, query), next = {0};
        if (key + 1 < keys)
            next = panel_value(work, at + QUERY_BLOCK, times, query);
        vector both = factors_joined(first, next); /* a half along the queries of each key */
        factors_store(down, paired(both));
        for (int64_t i = key; i < at_most(key + PAIR, keys); i++, across += QUERY_BLOCK / PAIR)
            memcpy(across, (const char *)&both + (i - key) * (VECTOR_BYTES / PAIR), VECTOR_BYTES / PAIR);
    }
}
#else
static inline void pack_panel(const struct attention_work *work, const struct panel *panel, int64_t column,
    vector times, int64_t query, int64_t keys)
{
    for (int64_t key = 0; BFLOAT16_PRODUCTS && key < keys; key++) {
        scalar *at = panel->at + key * QUERY_BLOCK + column;
        vector_store(at, vector_rounded(panel_value(work, at, times, query)));
    }
}
#endif

/* Packs a panel of queries first .. last - 1, which have their factors in `times` [Tq]; NULL: all are 1. */
static inline void pack_block(const struct attention_work *work, const struct panel *panel,
    const scalar *times, int64_t first, int64_t last)
{
    for (int64_t query = first; BFLOAT16_PRODUCTS && query < last; query += LANES) {
        int64_t column = query - first;
        int64_t keys = keys_of_panel(work->head, first + column / TILE_COLUMNS * TILE_COLUMNS);
        vector factor_of = times ? statistics(times, query, work->head->queries) : vector_all(1);
        pack_panel(work, panel, column, factor_of, query, keys);
    }
}

/*
 * For a block of queries: to[query] = the sum over the keys that it sees of panel[key][query] * from[key],
 * added to `to` if `add`. Up to the last key that its tile sees, hidden keys count with a weight of 0; so NaN
 * in their rows spreads within a tile.
 */
static inline void mix(const struct attention_work *work, struct rows to, struct panel panel,
    struct factor_rows from, int64_t first, int64_t last, bool add)
{
    for (int64_t query = first; query < last; query += TILE_ROWS) {
        int64_t rows = at_most(last - query, TILE_ROWS);
        struct tile tile = {.a = panel.down + query - first,
            .a_row = 1,
            .a_step = QUERY_BLOCK,
            .b = from.at,
            .b_row = from.stride,
            .steps = factors(keys_until(work->head, query + rows)),
            .c = to.at + query * to.stride,
            .c_row = to.stride,
            .add = add};
        run_wide(&tile, rows, work->padded_depth);
    }
}

/* For the keys that the block's queries see: to[key] = the sum over the queries of panel[key][query] *
 * from[query], added to what earlier blocks have written, and to what this block has if `add`. */
static inline void gather_rows(const struct attention_work *work, struct rows to, struct panel panel,
    struct factor_rows from, int64_t first, int64_t last, bool add)
{
    const struct head *head = work->head;
    int64_t seen = keys_until(head, last);

    for (int64_t key = 0; key < seen; key += TILE_ROWS) {
        int64_t query = head->mask != MASK_CAUSAL || key < first ? first : key;
        struct tile tile = {.a = panel.across + (key * QUERY_BLOCK + query - first) / PAIR,
            .a_row = QUERY_BLOCK / PAIR,
            .a_step = 1,
            .b = from.at + query / PAIR * from.stride,
            .b_row = from.stride,
            .steps = factors(last - query),
            .c = to.at + key * to.stride,
            .c_row = to.stride,
            .add = add || (head->mask == MASK_CAUSAL ? key < first : first > 0)};
        run_wide(&tile, at_most(seen - key, TILE_ROWS), work->padded_depth);
    }
}

#endif
