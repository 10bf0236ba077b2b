#include "model/layers/attention.h"

/* What the threads share; what their work does not need is NULL. */
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
static void forward_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    const struct heads *heads = work->heads;

    for (int64_t i = begin; i < end; i++) {
        int64_t sequence = i / heads->heads, h = i % heads->heads;
        struct head head = head_of(heads, work->qkv, sequence, h);
        scalar *mixed = work->mixed + heads->start[sequence] * heads->width + h * head.depth;
        heads->team->kernels->attention(&head, mixed, heads->width, scratch);
    }
}

static void gradient_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    const struct heads *heads = work->heads;

    for (int64_t i = begin; i < end; i++) {
        int64_t sequence = i / heads->heads, h = i % heads->heads;
        struct head head = head_of(heads, work->qkv, sequence, h);
        const scalar *dmixed = work->dmixed + heads->start[sequence] * heads->width + h * head.depth;
        scalar *dq = work->dqkv + (head.q - work->qkv);
        heads->team->kernels->attention_gradient(
            &head, dq, dq + heads->width, dq + 2 * heads->width, dmixed, heads->width, scratch);
    }
}

static void attended_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    const struct heads *heads = work->heads;

    for (int64_t i = begin; i < end; i++) {
        struct head head = head_of(heads, work->qkv, i / heads->heads, i % heads->heads);
        heads->team->kernels->attended(&head, work->count + (head.most - heads->most), scratch);
    }
}

void heads_forward(const struct heads *heads, scalar *mixed, const scalar *qkv)
{
    const struct heads_work work = {.heads = heads, .qkv = qkv, .mixed = mixed};

    team_run(heads->team, heads->sequences * heads->heads, 1, forward_share, &work);
}

void heads_attended(const struct heads *heads, int32_t *count, const scalar *qkv)
{
    const struct heads_work work = {.heads = heads, .qkv = qkv, .count = count};

    team_run(heads->team, heads->sequences * heads->heads, 1, attended_share, &work);
}

void heads_gradient(const struct heads *heads, scalar *dqkv, const scalar *dmixed, const scalar *qkv)
{
    const struct heads_work work = {.heads = heads, .qkv = qkv, .dmixed = dmixed, .dqkv = dqkv};

    team_run(heads->team, heads->sequences * heads->heads, 1, gradient_share, &work);
}
