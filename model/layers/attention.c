/*
 * Attention head by head: each share of a team has whole heads of a sequence, so that no two write to the
 * same place. Values, gradients and the tangents of both take the same way.
 */
#include "model/layers/layers.h"

#include <math.h>
#include <string.h>

#include "model/core/check.h"

/* What the threads share, as far as they need it: `attended` tells that weights are looked at, din that
 * there are gradients, and tin that there are tangents. */
struct heads_work {
    const struct heads *heads;
    const struct projected *in, *tin, *din; /* din: gradients, or their tangents */
    struct dual dmixed;
    scalar *mixed; /* or its tangent */
    const struct attended *attended;
    scalar *dbias; /* the gradient of the relative bias, or its tangent; NULL: not computed */
};

/* Head h of a sequence, and where it lies in each of the projected. */
struct placed {
    struct head head;
    int64_t q, kv, mixed; /* offsets */
    bool add; /* an earlier head has written the gradients of the same keys and values */
    int64_t bias; /* offset of distance 0 in the relative bias */
    scalar *dbias; /* where its gradient is added; NULL: not computed */
};

static int64_t heads_width(const struct heads *heads)
{
    return heads->heads * heads->depth;
}

scalar heads_scale(int64_t depth)
{
    scalar root = (scalar)sqrt((double)depth);

    return 1 / root;
}

int64_t heads_scratch(int64_t heads, int64_t depth, int64_t context, bool relative, bool tangents)
{
    return attention_scratch(context, depth, tangents) + (relative ? heads * relative_stride(context) : 0);
}

static struct placed place_head(const struct heads_work *work, int64_t sequence, int64_t h)
{
    const struct heads *heads = work->heads;
    const struct projected *in = work->in;
    int64_t row = heads->start[sequence], key_row = heads->key_start[sequence];
    int64_t queries = heads->start[sequence + 1] - row, keys = heads->key_start[sequence + 1] - key_row;
    int64_t group = heads->heads / heads->kv_heads, depth = heads->depth;
    int64_t q = row * in->q_stride + h * depth, kv = key_row * in->kv_stride + h / group * depth;
    int64_t statistics = h * heads->start[heads->sequences] + row;
    const struct relative *relative = heads->relative.bias ? &heads->relative : NULL;
    int64_t bias = relative ? h * relative->stride + relative->reach : 0;

    INVARIANT(
        !relative || queries <= relative->reach + 1, "%d rows, reach %d", (int)queries, (int)relative->reach);
    INVARIANT(heads->mask != MASK_CAUSAL || queries == keys, "%d queries, %d keys", (int)queries, (int)keys);
    return (struct placed){.q = q,
        .kv = kv,
        .mixed = row * heads_width(heads) + h * depth,
        .add = h % group > 0,
        .bias = bias,
        .head = {.q = in->q + q,
            .k = in->k + kv,
            .v = in->v + kv,
            .q_stride = in->q_stride,
            .kv_stride = in->kv_stride,
            .queries = queries,
            .keys = keys,
            .depth = depth,
            .scale = heads->scale,
            .bias = relative ? relative->bias + bias : NULL,
            .mask = heads->mask,
            .hard = heads->hard,
            .most = heads->most + statistics,
            .inverse = heads->inverse + statistics}};
}

/* Computes one head of one sequence. */
static void compute_head(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    const struct heads *heads = work->heads;
    const struct kernels *kernels = heads->team->kernels;
    const struct head *head = &placed->head;
    struct head tangent = *head;

    if (work->attended) {
        const struct attended *all = work->attended;
        int64_t at = head->most - heads->most;
        struct attended own = {.count = all->count ? all->count + at : NULL};
        if (!all->count)
            own = (struct attended){.largest = all->largest + at,
                .sum = all->sum + at,
                .product = all->product + at,
                .first = all->first + at};
        kernels->attended(head, &own, scratch);
        return;
    }
    if (work->tin) {
        tangent.q = work->tin->q + placed->q;
        tangent.k = work->tin->k + placed->kv;
        tangent.v = work->tin->v + placed->kv;
        tangent.bias = heads->relative.tbias ? heads->relative.tbias + placed->bias : NULL;
    }
    if (!work->din) {
        scalar *mixed = work->mixed + placed->mixed;
        if (work->tin)
            kernels->attention_tangent(head, &tangent, mixed, heads_width(heads), scratch);
        else
            kernels->attention(head, mixed, heads_width(heads), scratch);
        return;
    }
    const struct head_gradient gradient = {.dmixed = work->dmixed.at + placed->mixed,
        .tdmixed = work->tin ? work->dmixed.tangent + placed->mixed : NULL,
        .mixed_stride = heads_width(heads),
        .dq = work->din->q + placed->q,
        .dk = work->din->k + placed->kv,
        .dv = work->din->v + placed->kv,
        .add = placed->add,
        .dbias = placed->dbias};
    if (work->tin)
        kernels->attention_gradient_tangent(head, &tangent, &gradient, scratch);
    else
        kernels->attention_gradient(head, &gradient, scratch);
}

/* Scalars of the relative bias, or of its gradient. */
static int64_t bias_size(const struct heads_work *work)
{
    return work->heads->heads * work->heads->relative.stride;
}

/* Item i is the heads that share the keys and values i % K of sequence i / K: one thread adds up their
 * gradients, in order. A share adds up its part of the gradient of the relative bias in its scratch. */
static void compute_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct heads_work *work = context;
    int64_t heads = work->heads->heads, group = heads / work->heads->kv_heads;
    scalar *part = work->dbias ? scratch : NULL;

    if (part) {
        memset(part, 0, (size_t)bias_size(work) * sizeof(*part));
        scratch += bias_size(work);
    }
    for (int64_t i = begin * group; i < end * group; i++) {
        struct placed placed = place_head(work, i / heads, i % heads);
        placed.dbias = part ? part + placed.bias : NULL;
        compute_head(work, &placed, scratch);
    }
}

static void compute_heads(const struct heads_work *work)
{
    const struct heads *heads = work->heads;
    const struct team *team = heads->team;
    double sequences = (double)heads->sequences, queries = (double)heads->start[heads->sequences] / sequences;
    double keys = (double)heads->key_start[heads->sequences] / sequences;

    INVARIANT(heads->kv_heads > 0 && heads->heads % heads->kv_heads == 0, "%d heads, %d of keys",
        (int)heads->heads, (int)heads->kv_heads);
    double width = (double)(heads->heads / heads->kv_heads * heads->depth);
    /* The products of an item and, of about the same length, all else. */
    const struct items items = {
        heads->sequences * heads->kv_heads, 1, 4 * PRODUCT_NANOSECONDS * queries * keys * width};
    int64_t shares = team_shares(team, items);
    INVARIANT(!work->dbias || bias_size(work) < team->scratch_size, "%d heads", (int)heads->heads);
    team_run(team, items, compute_share, work);
    for (int64_t i = 0; work->dbias && i < shares; i++) {
        const scalar *part = team->scratch + i * team->scratch_size;
        team->kernels->add(work->dbias, work->dbias, part, bias_size(work));
    }
}

void heads_forward(
    const struct heads *heads, scalar *mixed, const struct projected *in, const struct projected *tin)
{
    const struct heads_work work = {.heads = heads, .in = in, .tin = tin, .mixed = mixed};

    compute_heads(&work);
}

void heads_attended(const struct heads *heads, const struct attended *attended, const struct projected *in)
{
    const struct heads_work work = {.heads = heads, .in = in, .attended = attended};

    compute_heads(&work);
}

void heads_gradient(const struct heads *heads, const struct projected *din, struct dual dmixed,
    const struct projected *in, const struct projected *tin)
{
    struct heads_work work = {.heads = heads, .in = in, .tin = tin, .din = din, .dmixed = dmixed};

    work.dbias = tin ? heads->relative.tdbias : heads->relative.dbias;
    compute_heads(&work);
}
