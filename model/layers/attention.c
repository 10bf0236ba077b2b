#include "model/layers/attention.h"

/* What the threads share. `count` is set for heads_attended, `dmixed` and `din` for the gradient. */
struct heads_work {
    const struct heads *heads;
    const struct projected *in, *din;
    const scalar *dmixed;
    scalar *mixed;
    int32_t *count;
};

/* Head h of a sequence, and where it lies in each of the projected. */
struct placed {
    struct head head;
    int64_t row; /* the first query's */
    int64_t q, kv; /* offsets */
};

static struct placed place_head(const struct heads_work *work, int64_t sequence, int64_t h)
{
    const struct heads *heads = work->heads;
    const struct projected *in = work->in;
    int64_t row = heads->start[sequence], key_row = heads->key_start[sequence];
    int64_t depth = heads->width / heads->heads, statistics = h * heads->start[heads->sequences] + row;
    int64_t q = row * in->q_stride + h * depth, kv = key_row * in->kv_stride + h * depth;

    return (struct placed){.row = row,
        .q = q,
        .kv = kv,
        .head = {.q = in->q + q,
            .k = in->k + kv,
            .v = in->v + kv,
            .q_stride = in->q_stride,
            .kv_stride = in->kv_stride,
            .queries = heads->start[sequence + 1] - row,
            .keys = heads->key_start[sequence + 1] - key_row,
            .depth = depth,
            .mask = heads->mask,
            .hard = heads->hard,
            .most = heads->most + statistics,
            .inverse = heads->inverse + statistics}};
}

/* Item i is head i % H of sequence i / H. */
static void compute_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    const struct heads *heads = work->heads;
    const struct kernels *kernels = heads->team->kernels;
    int64_t width = heads->width;

    for (int64_t i = begin; i < end; i++) {
        int64_t h = i % heads->heads;
        struct placed placed = place_head(work, i / heads->heads, h);
        const struct head *head = &placed.head;
        int64_t at = placed.row * width + h * head->depth; /* in [rows, C] */

        if (work->count) {
            kernels->attended(head, work->count + (head->most - heads->most), scratch);
        } else if (work->dmixed) {
            const struct projected *din = work->din;
            kernels->attention_gradient(head, din->q + placed.q, din->k + placed.kv, din->v + placed.kv,
                work->dmixed + at, width, scratch);
        } else {
            kernels->attention(head, work->mixed + at, width, scratch);
        }
    }
}

static void compute_heads(const struct heads_work *work)
{
    const struct heads *heads = work->heads;

    team_run(heads->team, heads->sequences * heads->heads, 1, compute_share, work);
}

void heads_forward(const struct heads *heads, scalar *mixed, const struct projected *in)
{
    const struct heads_work work = {.heads = heads, .in = in, .mixed = mixed};

    compute_heads(&work);
}

void heads_attended(const struct heads *heads, int32_t *count, const struct projected *in)
{
    const struct heads_work work = {.heads = heads, .in = in, .count = count};

    compute_heads(&work);
}

void heads_gradient(
    const struct heads *heads, const struct projected *din, const scalar *dmixed, const struct projected *in)
{
    const struct heads_work work = {.heads = heads, .in = in, .din = din, .dmixed = dmixed};

    compute_heads(&work);
}
