#include "model/layers/layers.h"

#include <math.h>
#include <string.h>

#include "model/core/check.h"

struct heads_work;
struct placed;

/* Computes one head of one sequence. */
typedef void head_function(const struct heads_work *work, const struct placed *placed, scalar *scratch);

/* What the threads share, as far as `compute` needs it. */
struct heads_work {
    head_function *compute;
    const struct heads *heads;
    const struct projected *in, *tin, *din; /* din: gradients, or their tangents */
    struct dual dmixed;
    scalar *mixed; /* or its tangent */
    int32_t *count;
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
    int64_t head = tangents ? attention_tangent_scratch(context, depth) : attention_scratch(context, depth);

    return head + (relative ? heads * relative_stride(context) : 0);
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
    const struct relative *relative = heads->relative;
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

/* Scalars of the relative bias, or of its gradient. */
static int64_t bias_size(const struct heads_work *work)
{
    return work->heads->heads * work->heads->relative->stride;
}

/*
 * Item i is the heads that share the keys and values i % K of sequence i / K: one thread adds up their
 * gradients, in order. A share adds up its part of the gradient of the relative bias in its scratch.
 */
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
        work->compute(work, &placed, scratch);
    }
}

/* The products of an item and, of about the same length, all else. */
static struct items items_of(const struct heads *heads)
{
    double sequences = (double)heads->sequences, queries = (double)heads->start[heads->sequences] / sequences;
    double keys = (double)heads->key_start[heads->sequences] / sequences;
    double width = (double)(heads->heads / heads->kv_heads * heads->depth);

    return (struct items){
        heads->sequences * heads->kv_heads, 1, 4 * PRODUCT_NANOSECONDS * queries * keys * width};
}

static void compute_heads(const struct heads_work *work)
{
    const struct heads *heads = work->heads;
    const struct team *team = heads->team;

    INVARIANT(heads->kv_heads > 0 && heads->heads % heads->kv_heads == 0, "%d heads, %d of keys",
        (int)heads->heads, (int)heads->kv_heads);
    const struct items items = items_of(heads);
    int64_t shares = team_shares(team, items);
    INVARIANT(!work->dbias || bias_size(work) < team->scratch_size, "%d heads", (int)heads->heads);
    team_run(team, items, compute_share, work);
    for (int64_t i = 0; work->dbias && i < shares; i++) {
        const scalar *part = team->scratch + i * team->scratch_size;
        team->kernels->spread(work->dbias, work->dbias, part, 1, bias_size(work));
    }
}

static const struct kernels *kernels_of(const struct heads_work *work)
{
    return work->heads->team->kernels;
}

static void forward(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    kernels_of(work)->attention(
        &placed->head, work->mixed + placed->mixed, heads_width(work->heads), scratch);
}

void heads_forward(const struct heads *heads, scalar *mixed, const struct projected *in)
{
    const struct heads_work work = {.compute = forward, .heads = heads, .in = in, .mixed = mixed};

    compute_heads(&work);
}

static void count_attended(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    int64_t at = placed->head.most - work->heads->most;

    kernels_of(work)->attended(&placed->head, work->count + at, scratch);
}

void heads_attended(const struct heads *heads, int32_t *count, const struct projected *in)
{
    const struct heads_work work = {.compute = count_attended, .heads = heads, .in = in, .count = count};

    compute_heads(&work);
}

/* Where the gradients of a head come from and go, or, in a tangent of the gradient, their tangents. */
static struct head_gradient gradient_of(const struct heads_work *work, const struct placed *placed)
{
    const struct projected *din = work->din;
    const struct dual dmixed = work->dmixed;

    return (struct head_gradient){.dmixed = dmixed.at + placed->mixed,
        .tdmixed = dmixed.tangent ? dmixed.tangent + placed->mixed : NULL,
        .mixed_stride = heads_width(work->heads),
        .dq = din->q + placed->q,
        .dk = din->k + placed->kv,
        .dv = din->v + placed->kv,
        .add = placed->add,
        .dbias = placed->dbias};
}

static void gradient(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    const struct head_gradient of = gradient_of(work, placed);

    kernels_of(work)->attention_gradient(&placed->head, &of, scratch);
}

void heads_gradient(
    const struct heads *heads, const struct projected *din, const scalar *dmixed, const struct projected *in)
{
    const struct heads_work work = {.compute = gradient,
        .heads = heads,
        .in = in,
        .din = din,
        .dmixed.at = dmixed,
        .dbias = heads->relative ? heads->relative->dbias : NULL};

    compute_heads(&work);
}

/* The tangents of the head's q, k, v and bias. */
static struct head tangent_of(const struct heads_work *work, const struct placed *placed)
{
    const struct relative *relative = work->heads->relative;
    struct head tangent = placed->head;

    tangent.q = work->tin->q + placed->q;
    tangent.k = work->tin->k + placed->kv;
    tangent.v = work->tin->v + placed->kv;
    tangent.bias = relative && relative->tbias ? relative->tbias + placed->bias : NULL;
    return tangent;
}

static void tangent(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    const struct head of = tangent_of(work, placed);

    kernels_of(work)->attention_tangent(
        &placed->head, &of, work->mixed + placed->mixed, heads_width(work->heads), scratch);
}

void heads_tangent(
    const struct heads *heads, scalar *tmixed, const struct projected *in, const struct projected *tin)
{
    const struct heads_work work = {
        .compute = tangent, .heads = heads, .in = in, .tin = tin, .mixed = tmixed};

    compute_heads(&work);
}

static void gradient_tangent(const struct heads_work *work, const struct placed *placed, scalar *scratch)
{
    const struct head of = tangent_of(work, placed);
    const struct head_gradient head_gradient = gradient_of(work, placed);

    kernels_of(work)->attention_gradient_tangent(&placed->head, &of, &head_gradient, scratch);
}

void heads_gradient_tangent(const struct heads *heads, const struct projected *tdin, struct dual dmixed,
    const struct projected *in, const struct projected *tin)
{
    const struct heads_work work = {.compute = gradient_tangent,
        .heads = heads,
        .in = in,
        .tin = tin,
        .din = tdin,
        .dmixed = dmixed,
        .dbias = heads->relative ? heads->relative->tdbias : NULL};

    compute_heads(&work);
}
