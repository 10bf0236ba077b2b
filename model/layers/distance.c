/*
 * Each item of work is one head of one sequence. It takes its queries in blocks and keeps the scores of one
 * block. Keys of distances are in falling order of the distance: for the queries of a block, the products
 * with them form rows in which the scores of all keys lie side by side, from row to row one further to the
 * left. With a stride that is shorter by one, these are a matrix, to which the other product adds its own.
 */
#include "model/layers/layers.h"

#include <math.h>

#include "model/core/check.h"

enum { QUERIES = 64 }; /* of a block */

void distances_fill(scalar *table, int64_t context, int64_t width)
{
    int64_t half = width / 2;

    INVARIANT(width % 2 == 0, "width %lld", (long long)width);
    for (int64_t k = 0; k < half; k++) {
        double frequency = pow(10000, -2 * (double)k / (double)width);
        for (int64_t c = 0; c < 2 * context - 1; c++) {
            double angle = (double)(context - 1 - c) * frequency;
            table[c * width + k] = (scalar)sin(angle);
            table[c * width + half + k] = (scalar)cos(angle);
        }
    }
}

/* Scalars of the two planes of a block: products with keys of distances, and scores. */
static int64_t plane_size(int64_t context)
{
    int64_t queries = context < QUERIES ? context : QUERIES;

    return queries * (context + queries);
}

int64_t distances_scratch(int64_t context)
{
    return PRODUCT_SCRATCH + 2 * plane_size(context);
}

/* What the threads share, as far as a share needs it. */
struct distances_work {
    const struct distances *distances;
    scalar *mixed;
    int32_t *count;
    const scalar *content_bias, *distance_bias;
};

static int64_t width_of(const struct distances *distances)
{
    return distances->heads * distances->depth;
}

static int64_t rows_of(const struct distances *distances)
{
    return distances->start[distances->sequences];
}

/* ---- biases ---- */

static void bias_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct distances_work *work = context;
    const struct distances *d = work->distances;
    const struct kernels *kernels = d->team->kernels;
    int64_t width = width_of(d);

    (void)scratch;
    for (int64_t row = begin; row < end; row++) {
        scalar *q = d->in.q + row * d->in.q_stride;
        kernels->add(d->queries + row * width, q, work->distance_bias, width);
        kernels->add(q, q, work->content_bias, width);
    }
}

void distances_bias(
    const struct distances *distances, const scalar *content_bias, const scalar *distance_bias)
{
    const struct distances_work work = {
        .distances = distances, .content_bias = content_bias, .distance_bias = distance_bias};
    const struct items rows = {rows_of(distances), 1, 2 * ELEMENT_NANOSECONDS * (double)width_of(distances)};

    team_run(distances->team, rows, bias_share, &work);
}

/* ---- blocks of queries ---- */

/* Some queries of head h in a sequence of `keys` rows, and their scores. */
struct distances_block {
    int64_t h, row, keys; /* row: the first of the sequence */
    int64_t first, queries; /* counted from the first of the sequence */
    scalar *scores; /* [queries, keys], then the weights */
    int64_t stride;
    scalar *scratch; /* of a product */
};

/* The attention weights of up to QUERIES queries from `first` on. */
static struct distances_block weigh_block(
    const struct distances_work *work, int64_t sequence, int64_t h, int64_t first, scalar *scratch)
{
    const struct distances *d = work->distances;
    const struct projected *in = &d->in;
    int64_t row = d->start[sequence], keys = d->start[sequence + 1] - row;
    int64_t queries = keys - first < QUERIES ? keys - first : QUERIES;
    int64_t width = width_of(d), kv_head = h / (d->heads / d->kv_heads), stride = keys + queries - 1;
    scalar *products = scratch + PRODUCT_SCRATCH, *scores = products + plane_size(d->reach + 1);
    /* Of the queries with the keys of all distances to keys, the largest distance first. */
    const struct product by_distance = {.m = queries,
        .n = keys + queries - 1,
        .k = d->depth,
        .a = d->queries + (row + first) * width + h * d->depth,
        .a_stride = width,
        .b = d->keys + (d->reach - (first + queries - 1)) * width + h * d->depth,
        .b_stride = width,
        .b_transposed = true,
        .c = products,
        .c_stride = stride + 1};
    /* Query i, key j: at distance first + i - j, in column queries - 1 - i + j of row i of the products. */
    const struct product by_content = {.m = queries,
        .n = keys,
        .k = d->depth,
        .a = in->q + (row + first) * in->q_stride + h * d->depth,
        .a_stride = in->q_stride,
        .b = in->k + row * in->kv_stride + kv_head * d->depth,
        .b_stride = in->kv_stride,
        .b_transposed = true,
        .c = scores,
        .c_stride = stride,
        .residual = products + queries - 1};

    product_alone(d->team->kernels, &by_distance, scratch);
    product_alone(d->team->kernels, &by_content, scratch);
    for (int64_t i = 0; i < queries; i++)
        d->team->kernels->attention_weights(scores + i * stride, keys, d->scale, d->hard);
    return (struct distances_block){h, row, keys, first, queries, scores, stride, scratch};
}

static void mix_block(const struct distances_work *work, const struct distances_block *block)
{
    const struct distances *d = work->distances;
    const struct projected *in = &d->in;
    int64_t kv_head = block->h / (d->heads / d->kv_heads);
    const struct product product = {.m = block->queries,
        .n = d->depth,
        .k = block->keys,
        .a = block->scores,
        .a_stride = block->stride,
        .b = in->v + block->row * in->kv_stride + kv_head * d->depth,
        .b_stride = in->kv_stride,
        .c = work->mixed + (block->row + block->first) * width_of(d) + block->h * d->depth,
        .c_stride = width_of(d)};

    product_alone(d->team->kernels, &product, block->scratch);
}

/* How many of the weights of each query are above ATTENDED; -1 if they are NaN. */
static void count_block(const struct distances_work *work, const struct distances_block *block)
{
    int32_t *count = work->count + block->h * rows_of(work->distances) + block->row + block->first;

    for (int64_t i = 0; i < block->queries; i++) {
        const scalar *weights = block->scores + i * block->stride;
        count[i] = 0;
        for (int64_t j = 0; j < block->keys; j++)
            count[i] += weights[j] > (scalar)ATTENDED;
        if (isnan(weights[0]))
            count[i] = -1;
    }
}

/* ---- heads ---- */

/* Item i is head i % H of sequence i / H. */
static void compute_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct distances_work *work = context;
    const struct distances *d = work->distances;

    for (int64_t i = begin; i < end; i++) {
        int64_t sequence = i / d->heads, keys = d->start[sequence + 1] - d->start[sequence];
        INVARIANT(keys <= d->reach + 1, "%lld rows, reach %lld", (long long)keys, (long long)d->reach);
        for (int64_t first = 0; first < keys; first += QUERIES) {
            const struct distances_block block = weigh_block(work, sequence, i % d->heads, first, scratch);
            if (work->mixed)
                mix_block(work, &block);
            if (work->count)
                count_block(work, &block);
        }
    }
}

static void compute_heads(const struct distances_work *work)
{
    const struct distances *d = work->distances;
    double length = (double)rows_of(d) / (double)d->sequences;
    const struct items items = {
        d->sequences * d->heads, 1, 4 * PRODUCT_NANOSECONDS * length * length * (double)d->depth};

    INVARIANT(d->kv_heads > 0 && d->heads % d->kv_heads == 0, "%lld heads, %lld of keys", (long long)d->heads,
        (long long)d->kv_heads);
    team_run(d->team, items, compute_share, work);
}

void distances_forward(const struct distances *distances, scalar *mixed)
{
    const struct distances_work work = {.distances = distances, .mixed = mixed};

    compute_heads(&work);
}

void distances_attended(const struct distances *distances, int32_t *count)
{
    const struct distances_work work = {.distances = distances, .count = count};

    compute_heads(&work);
}
