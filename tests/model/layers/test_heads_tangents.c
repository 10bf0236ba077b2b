/* The tangents of attention by all heads of packed sequences, in double. */
#include "tests/model/layers/layer_case.h"

#ifdef SCALAR_DOUBLE

/* Sequences of one, few, and more than a block of queries (at most 64); keys of others. */
enum { HEADS = 2, WIDTH = 6, TOKENS = 1 + 5 + 70, KEYS = 3 + 67 + 2 };

static struct projected projected_of(const struct layer *layer, scalar *z)
{
    scalar *k = z + TOKENS * WIDTH;

    if (layer->heads.key_start == layer->heads.start)
        return projected_together(z, WIDTH, WIDTH);
    return (struct projected){z, k, k + WIDTH, WIDTH, 2 * WIDTH};
}

static void heads_y(const struct layer *layer, scalar *y, const scalar *z)
{
    const struct projected in = projected_of(layer, (scalar *)z);

    heads_forward(&layer->heads, y, &in);
}

static void heads_dz(const struct layer *layer, scalar *dz, const scalar *z, const scalar *dy)
{
    const struct projected in = projected_of(layer, (scalar *)z), din = projected_of(layer, dz);

    heads_gradient(&layer->heads, &din, dy, &in);
}

static void heads_ty(const struct layer *layer, scalar *ty, struct dual z)
{
    const struct projected in = projected_of(layer, (scalar *)z.at),
                           tin = projected_of(layer, (scalar *)z.tangent);

    heads_tangent(&layer->heads, ty, &in, &tin);
}

static void heads_tdz(const struct layer *layer, scalar *tdz, struct dual z, struct dual dy)
{
    const struct projected in = projected_of(layer, (scalar *)z.at),
                           tin = projected_of(layer, (scalar *)z.tangent), tdin = projected_of(layer, tdz);

    heads_gradient_tangent(&layer->heads, &tdin, dy, &in, &tin);
}

static void check_heads(enum attention_mask mask, const int64_t *key_start, int64_t keys)
{
    static const int64_t start[] = {0, 1, 6, TOKENS};
    static scalar most[HEADS * TOKENS], inverse[HEADS * TOKENS];
    struct layer layer = {.name = "attention",
        .in = (TOKENS + 2 * keys) * WIDTH,
        .out = TOKENS * WIDTH,
        .moved = MOST,
        .forward = heads_y,
        .gradient = heads_dz,
        .tangent = heads_ty,
        .gradient_tangent = heads_tdz,
        .heads = {.team = layer_team(),
            .heads = HEADS,
            .kv_heads = HEADS,
            .depth = WIDTH / HEADS,
            .scale = heads_scale(WIDTH / HEADS),
            .mask = mask,
            .sequences = 3,
            .start = start,
            .key_start = key_start ? key_start : start,
            .most = most,
            .inverse = inverse}};

    layer.name[0] = key_start ? 'A' : 'a';
    check_layer(&layer);
}

TEST(tangent_attention)
{
    static const int64_t key_start[] = {0, 3, 70, KEYS};

    CHECK(attention_tangent_scratch(KEYS, WIDTH / HEADS) <= layer_team()->scratch_size);
    for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
        check_heads(mask, NULL, TOKENS);
    check_heads(MASK_MULTIPLICATIVE, key_start, KEYS);
    check_heads(MASK_NONE, key_start, KEYS);
}

#else

TEST(heads_tangents)
{
    test_skip("the float build; tests-double checks tangents");
}

#endif
