/* The tangents of attention by all heads of packed sequences, in double. */
#include "tests/model/layers/layer_case.h"

#ifdef SCALAR_DOUBLE

/* Sequences of one, few, and more than a block of queries (at most 64); keys of others. */
enum { HEADS = 4, DEPTH = 3, WIDTH = HEADS * DEPTH, LONGEST = 70, TOKENS = 1 + 5 + LONGEST };
enum { KEYS = 3 + 67 + 2, BIASES = HEADS * (2 * LONGEST - 1 + 2 * ATTENTION_LANES) };

/* z is q, k and v, then, if there is a relative bias, its table. */
static struct projected projected_of(const struct layer *layer, scalar *z)
{
    int64_t key_width = layer->heads.kv_heads * DEPTH;
    scalar *k = z + TOKENS * WIDTH;

    if (layer->heads.key_start == layer->heads.start)
        return projected_together(z, WIDTH, key_width);
    return (struct projected){z, k, k + key_width, WIDTH, 2 * key_width};
}

static bool two_sided(const struct layer *layer)
{
    return layer->heads.mask != MASK_CAUSAL;
}

static const scalar *table_of(const struct layer *layer, const scalar *z)
{
    return z + TOKENS * (WIDTH + 2 * layer->heads.kv_heads * DEPTH);
}

/* The heads, with their bias from z and its tangent from tz; *gathered, at first 0, is where gradients go. */
static struct heads heads_of(
    const struct layer *layer, struct relative *relative, const scalar *z, const scalar *tz, scalar *gathered)
{
    static scalar bias[BIASES], tbias[BIASES];
    struct heads heads = layer->heads;

    if (!heads.relative)
        return heads;
    CHECK(HEADS * relative_stride(LONGEST) <= BIASES);
    relative_spread(bias, table_of(layer, z), HEADS, LONGEST, two_sided(layer));
    if (tz)
        relative_spread(tbias, table_of(layer, tz), HEADS, LONGEST, two_sided(layer));
    if (gathered)
        memset(gathered, 0, BIASES * sizeof(*gathered));
    *relative = (struct relative){.reach = LONGEST - 1,
        .stride = relative_stride(LONGEST),
        .bias = bias,
        .tbias = tz && layer->moved == MOST ? tbias : NULL,
        .dbias = gathered,
        .tdbias = gathered};
    heads.relative = relative;
    return heads;
}

static void gather_table(const struct layer *layer, scalar *dz, const scalar *gathered)
{
    if (layer->heads.relative)
        relative_gather((scalar *)table_of(layer, dz), gathered, HEADS, LONGEST, two_sided(layer));
}

static void heads_y(const struct layer *layer, scalar *y, const scalar *z)
{
    struct relative relative;
    const struct heads heads = heads_of(layer, &relative, z, NULL, NULL);
    const struct projected in = projected_of(layer, (scalar *)z);

    heads_forward(&heads, y, &in);
}

static void heads_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    static scalar dbias[BIASES];
    struct relative relative;
    const struct heads heads = heads_of(layer, &relative, z, NULL, dbias);
    const struct projected in = projected_of(layer, (scalar *)z), din = projected_of(layer, dz);

    heads_gradient(&heads, &din, dy, &in);
    gather_table(layer, dz, dbias);
}

static void heads_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    struct relative relative;
    const struct heads heads = heads_of(layer, &relative, z.at, z.tangent, NULL);
    const struct projected in = projected_of(layer, (scalar *)z.at),
                           tin = projected_of(layer, (scalar *)z.tangent);

    heads_tangent(&heads, ty, &in, &tin);
}

static void heads_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    static scalar tdbias[BIASES];
    struct relative relative;
    const struct heads heads = heads_of(layer, &relative, z.at, z.tangent, tdbias);
    const struct projected in = projected_of(layer, (scalar *)z.at),
                           tin = projected_of(layer, (scalar *)z.tangent), tdin = projected_of(layer, tdz);

    heads_gradient_tangent(&heads, &tdin, dy, &in, &tin);
    gather_table(layer, tdz, tdbias);
}

static const int64_t start[] = {0, 1, 6, TOKENS}, key_start[] = {0, 3, 70, KEYS};

static struct layer heads_layer(enum attention_mask mask, int64_t kv_heads, bool cross)
{
    static scalar most[HEADS * TOKENS], inverse[HEADS * TOKENS];
    struct layer layer = {.in = TOKENS * WIDTH + (cross ? KEYS : TOKENS) * 2 * kv_heads * DEPTH,
        .out = TOKENS * WIDTH,
        .moved = MOST,
        .forward = heads_y,
        .gradient = heads_dz,
        .tangent = heads_ty,
        .gradient_tangent = heads_tdz,
        .heads = {.team = layer_team(),
            .heads = HEADS,
            .kv_heads = kv_heads,
            .depth = DEPTH,
            .scale = heads_scale(DEPTH),
            .mask = mask,
            .sequences = 3,
            .start = start,
            .key_start = cross ? key_start : start,
            .most = most,
            .inverse = inverse}};

    snprintf(layer.name, sizeof(layer.name), "mask %d, %d heads of keys%s", (int)mask, (int)kv_heads,
        cross ? ", cross-attention" : "");
    return layer;
}

TEST(tangent_attention)
{
    CHECK(heads_scratch(HEADS, DEPTH, KEYS, true, true) <= layer_team()->scratch_size);
    for (int64_t kv_heads = 1; kv_heads <= 2; kv_heads++) {
        for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++) {
            const struct layer layer = heads_layer(mask, kv_heads, false);
            check_layer(&layer);
        }
        for (enum attention_mask mask = MASK_MULTIPLICATIVE; mask <= MASK_NONE; mask++) {
            const struct layer layer = heads_layer(mask, kv_heads, true);
            check_layer(&layer);
        }
    }
}

/* With a learned bias, of which each head has its own; q.k without a scale. `moves`: it has a tangent. */
TEST(tangent_attention_with_relative_bias)
{
    static const struct relative some;

    for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
        for (int moves = 0; moves < 2; moves++) {
            struct layer layer = heads_layer(mask, 1 + moves, false);
            strcat(layer.name, moves ? ", bias" : ", fixed bias");
            layer.moved = moves ? MOST : layer.in;
            layer.in += RELATIVE_BUCKETS * HEADS;
            layer.heads.relative = &some;
            layer.heads.scale = 1;
            check_layer(&layer);
        }
}

#else

TEST(heads_tangents)
{
    test_skip("float is too coarse for finite differences; tests-double checks these tangents");
}

#endif
