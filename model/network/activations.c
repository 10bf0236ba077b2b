#include "model/network/activations.h"
#include "model/kernels/levels.h"

/* Rows of logits per block: enough for products to run at full speed, few enough to stay in the cache. */
enum { LOGIT_ROWS = 560 };

/* The sub-layers of a decoder's block. */
static const enum sublayer_kind decoder[] = {SUBLAYER_ATTENTION, SUBLAYER_FEEDFORWARD};
enum { DECODER_SUBLAYERS = sizeof(decoder) / sizeof(*decoder) };

static void block_layout(struct block *block, const struct architecture *a, int64_t layer, int64_t rows,
    bool tangents, struct arena *arena)
{
    struct sublayer *taken = arena_take(arena, DECODER_SUBLAYERS, sizeof(*taken)), counted;

    for (int i = 0; i < DECODER_SUBLAYERS; i++)
        sublayer_layout(taken ? &taken[i] : &counted, decoder[i], layer, a, rows, tangents, arena);
    *block = (struct block){DECODER_SUBLAYERS, taken};
}

/* Scratch for the largest share of any work, in scalars. */
static int64_t scratch_of(const struct architecture *c, bool tangents)
{
    int64_t depth = c->width / c->heads, norm = 2 * c->width;
    int64_t attention =
        tangents ? attention_tangent_scratch(c->context, depth) : attention_scratch(c->context, depth);
    int64_t most = attention > norm ? attention : norm;

    return most > PRODUCT_SCRATCH ? most : PRODUCT_SCRATCH;
}

/* What lies before and behind the blocks, and the gradients: the same planes for values and tangents. */
static void planes_layout(
    struct activations *a, const struct architecture *c, int64_t max_rows, struct arena *arena)
{
    a->embedded = arena_plane(arena, max_rows, c->width);
    if (c->norm_placement == NORM_PRE) {
        a->final = arena_plane(arena, max_rows, c->width);
        a->final_mean = arena_plane(arena, max_rows, 1);
        a->final_scale = arena_plane(arena, max_rows, 1);
    }
    a->logit_rows = max_rows < LOGIT_ROWS ? max_rows : LOGIT_ROWS;
    a->logits = arena_plane(arena, a->logit_rows, c->vocabulary);
    a->loss = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->loss));
    a->share = arena_plane(arena, a->logit_rows, 1);
    a->dstream = arena_plane(arena, max_rows, c->width);
    a->dnorm = arena_plane(arena, max_rows, c->width);
    a->dmixed = arena_plane(arena, max_rows, c->width);
    a->dqkv = arena_plane(arena, max_rows, 3 * c->width);
    a->dhidden = arena_plane(arena, max_rows, c->feedforward);
    a->dgate = c->gated ? arena_plane(arena, max_rows, c->feedforward) : NULL;
}

struct activations *activations_layout(const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena)
{
    const struct architecture *c = architecture;
    struct activations counted = {0}, *taken = arena_take(arena, 1 + tangents, sizeof(*taken));
    struct activations *a = taken ? taken : &counted;
    struct block one;

    a->block = arena_take(arena, (size_t)c->layers, sizeof(*a->block));
    team_layout(&a->team, threads, scratch_of(c, tangents), arena);
    for (int64_t layer = 0; layer < c->layers; layer++)
        block_layout(a->block ? &a->block[layer] : &one, c, layer, max_rows, tangents, arena);
    planes_layout(a, c, max_rows, arena);
    a->dgated = tangents ? arena_plane(arena, max_rows, c->feedforward) : a->dhidden;
    a->dscaled = tangents ? arena_plane(arena, max_rows, c->width) : a->dnorm;
    if (tangents) {
        a->tangent = taken ? &taken[1] : &counted;
        planes_layout(a->tangent, c, max_rows, arena);
        a->tangent->dgated = arena_plane(arena, max_rows, c->feedforward);
        a->tangent->dscaled = arena_plane(arena, max_rows, c->width);
    }
    return taken;
}
