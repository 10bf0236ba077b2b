#include "model/attention.h"

#include <math.h>
#include <string.h>

void attention_scratch_layout(struct attention_scratch *scratch, int64_t context, struct arena *arena)
{
    scratch->weights = arena_take(arena, (size_t)(QUERY_BLOCK * context), sizeof(scalar));
    scratch->dscores = arena_take(arena, (size_t)(QUERY_BLOCK * context), sizeof(scalar));
}

/* One head of one sequence: pointers to its first row, whose stride is 3C in qkv and C in mixed. */
struct head {
    const struct heads *all;
    const scalar *q, *k, *v;
    int64_t length;
    int stride, depth; /* 3C, D */
};

static struct head head_of(const struct heads *heads, const scalar *qkv, int64_t sequence, int64_t h)
{
    int64_t depth = heads->width / heads->heads, begin = heads->start[sequence];
    const scalar *q = qkv + begin * 3 * heads->width + h * depth;

    return (struct head){
        .all = heads,
        .q = q,
        .k = q + heads->width,
        .v = q + 2 * heads->width,
        .length = heads->start[sequence + 1] - begin,
        .stride = (int)(3 * heads->width),
        .depth = (int)depth,
    };
}

/* Queries [first, last) see at most `keys` keys. */
static int64_t block_keys(const struct head *head, int64_t last)
{
    return head->all->multiplicative ? head->length : last;
}

/* The attention weights of queries [first, last): [last - first, keys]. */
static void block_weights(const struct head *head, scalar *weights, int64_t first, int64_t last)
{
    int rows = (int)(last - first), keys = (int)block_keys(head, last);
    scalar scale = (scalar)(1 / sqrt((double)head->depth));

    scalar_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, head->depth, 1,
        head->q + first * head->stride, head->stride, head->k, head->stride, 0, weights, keys);
    for (int64_t row = first; row < last; row++) {
        scalar *scores = weights + (row - first) * keys;
        int64_t visible = row + 1;
        if (head->all->multiplicative) {
            memset(scores + visible, 0, (size_t)(keys - visible) * sizeof(*scores));
            visible = keys;
        }
        head->all->kernels->softmax(scores, scale, visible, keys);
    }
}

static void head_forward(const struct head *head, scalar *mixed)
{
    scalar *weights = head->all->scratch.weights;
    int width = (int)head->all->width;

    for (int64_t first = 0; first < head->length; first += QUERY_BLOCK) {
        int64_t last = first + QUERY_BLOCK < head->length ? first + QUERY_BLOCK : head->length;
        int keys = (int)block_keys(head, last);

        block_weights(head, weights, first, last);
        scalar_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(last - first), head->depth, keys, 1,
            weights, keys, head->v, head->stride, 0, mixed + first * width, width);
    }
}

/* dscores of queries [first, last) from dmixed; columns that the scores do not depend on are 0. */
static void block_dscores(const struct head *head, scalar *dscores, const scalar *weights,
    const scalar *dmixed, int64_t first, int64_t last)
{
    int rows = (int)(last - first), keys = (int)block_keys(head, last), width = (int)head->all->width;
    scalar scale = (scalar)(1 / sqrt((double)head->depth));

    scalar_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, head->depth, 1, dmixed + first * width,
        width, head->v, head->stride, 0, dscores, keys);
    for (int64_t row = first; row < last; row++) {
        scalar *d = dscores + (row - first) * keys;
        int64_t visible = head->all->multiplicative ? keys : row + 1;
        head->all->kernels->softmax_gradient(d, weights + (row - first) * keys, scale, visible, keys);
        memset(d + row + 1, 0,
            (size_t)(keys - row - 1) * sizeof(*d)); /* a score multiplied by 0 moves nothing */
    }
}

/* The last block sees all keys and overwrites their gradients; the blocks before it add to them. */
static void head_gradient(const struct head *head, scalar *dq, const scalar *dmixed)
{
    const struct heads *all = head->all;
    scalar *weights = all->scratch.weights, *dscores = all->scratch.dscores;
    scalar *dk = dq + all->width, *dv = dq + 2 * all->width;
    int stride = head->stride, depth = head->depth, width = (int)all->width;
    int64_t blocks = (head->length + QUERY_BLOCK - 1) / QUERY_BLOCK;

    for (int64_t block = blocks - 1; block >= 0; block--) {
        int64_t first = block * QUERY_BLOCK;
        int64_t last = first + QUERY_BLOCK < head->length ? first + QUERY_BLOCK : head->length;
        int rows = (int)(last - first), keys = (int)block_keys(head, last);
        scalar add = block < blocks - 1;

        block_weights(head, weights, first, last);
        block_dscores(head, dscores, weights, dmixed, first, last);
        scalar_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, depth, rows, 1, weights, keys,
            dmixed + first * width, width, add, dv, stride);
        scalar_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, depth, keys, 1, dscores, keys, head->k,
            stride, 0, dq + first * stride, stride);
        scalar_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, keys, depth, rows, 1, dscores, keys,
            head->q + first * stride, stride, add, dk, stride);
    }
}

void heads_forward(const struct heads *heads, scalar *mixed, const scalar *qkv)
{
    for (int64_t s = 0; s < heads->sequences; s++)
        for (int64_t h = 0; h < heads->heads; h++) {
            struct head head = head_of(heads, qkv, s, h);
            head_forward(&head, mixed + heads->start[s] * heads->width + h * head.depth);
        }
}

void heads_gradient(const struct heads *heads, scalar *dqkv, const scalar *dmixed, const scalar *qkv)
{
    for (int64_t s = 0; s < heads->sequences; s++)
        for (int64_t h = 0; h < heads->heads; h++) {
            struct head head = head_of(heads, qkv, s, h);
            scalar *dq = dqkv + heads->start[s] * head.stride + h * head.depth;
            head_gradient(&head, dq, dmixed + heads->start[s] * heads->width + h * head.depth);
        }
}
