#include "model/layers/attention.h"

/* What the threads share. `count` is set for heads_attended, `dmixed` and `dqkv` for the gradient. */
struct heads_work {
    const struct heads *heads;
    const scalar *qkv, *dmixed;
    scalar *mixed, *dqkv;
    int32_t *count;
};

static struct head head_of(const struct heads *heads, const scalar *qkv, int64_t sequence, int64_t h)
{
    int64_t begin = heads->start[sequence], depth = heads->width / heads->heads;
    int64_t statistics = h * heads->start[heads->sequences] + begin;
    const scalar *q = qkv + begin * 3 * heads->width + h * depth;

    return (struct head){
        .q = q,
        .k = q + heads->width,
        .v = q + 2 * heads->width,
        .stride = 3 * heads->width,
        .length = heads->start[sequence + 1] - begin,
        .depth = depth,
        .multiplicative = heads->multiplicative,
        .hard = heads->hard,
        .most = heads->most + statistics,
        .inverse = heads->inverse + statistics,
    };
}

/* Item i is head i % H of sequence i / H. */
static void compute_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    const struct heads *heads = work->heads;
    const struct kernels *kernels = heads->team->kernels;
    int64_t width = heads->width;

    for (int64_t i = begin; i < end; i++) {
        int64_t sequence = i / heads->heads, h = i % heads->heads;
        struct head head = head_of(heads, work->qkv, sequence, h);
        int64_t at = heads->start[sequence] * width + h * head.depth; /* in [rows, C] */

        if (work->count) {
            kernels->attended(&head, work->count + (head.most - heads->most), scratch);
        } else if (work->dmixed) {
            scalar *dq = work->dqkv + (head.q - work->qkv);
            kernels->attention_gradient(
                &head, dq, dq + width, dq + 2 * width, work->dmixed + at, width, scratch);
        } else {
            kernels->attention(&head, work->mixed + at, width, scratch);
        }
    }
}

static void compute_heads(const struct heads_work *work)
{
    const struct heads *heads = work->heads;

    team_run(heads->team, heads->sequences * heads->heads, 1, compute_share, work);
}

void heads_forward(const struct heads *heads, scalar *mixed, const scalar *qkv)
{
    compute_heads(&(struct heads_work){.heads = heads, .qkv = qkv, .mixed = mixed});
}

void heads_attended(const struct heads *heads, int32_t *count, const scalar *qkv)
{
    compute_heads(&(struct heads_work){.heads = heads, .qkv = qkv, .count = count});
}

void heads_gradient(const struct heads *heads, scalar *dqkv, const scalar *dmixed, const scalar *qkv)
{
    compute_heads(&(struct heads_work){.heads = heads, .qkv = qkv, .dmixed = dmixed, .dqkv = dqkv});
}
