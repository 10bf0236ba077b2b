#include "model/network/activations.h"
#include "model/kernels/levels.h"

/* Rows of logits at a time: enough that their products run at full speed, few enough that they stay near the
 * core. */
enum { LOGIT_ROWS = 560 };

static scalar *take_plane(struct arena *arena, int64_t rows, int64_t columns)
{
    return arena_take(arena, (size_t)rows * (size_t)columns, sizeof(scalar));
}

static void sublayer_layout(struct sublayer *sublayer, int64_t rows, int64_t width, struct arena *arena)
{
    sublayer->norm = take_plane(arena, rows, width);
    sublayer->mean = take_plane(arena, rows, 1);
    sublayer->scale = take_plane(arena, rows, 1);
    sublayer->out = take_plane(arena, rows, width);
}

static void block_layout(struct block *block, const struct architecture *a, int64_t rows, struct arena *arena)
{
    sublayer_layout(&block->attention, rows, a->width, arena);
    sublayer_layout(&block->feedforward, rows, a->width, arena);
    block->qkv = take_plane(arena, rows, 3 * a->width);
    block->mixed = take_plane(arena, rows, a->width);
    block->hidden = take_plane(arena, rows, a->feedforward);
    block->most = take_plane(arena, a->heads, rows);
    block->inverse = take_plane(arena, a->heads, rows);
    block->slope = a->activation == ACTIVATION_RELU ? NULL : take_plane(arena, rows, a->feedforward);
}

/* Scalars of scratch for the largest share of any work. */
static int64_t scratch_of(const struct architecture *c)
{
    int64_t attention = attention_scratch(c->context, c->width / c->heads), norm = 2 * c->width;
    int64_t most = attention > norm ? attention : norm;

    return most > PRODUCT_SCRATCH ? most : PRODUCT_SCRATCH;
}

struct activations *activations_layout(
    const struct architecture *architecture, int64_t max_rows, int64_t threads, struct arena *arena)
{
    const struct architecture *c = architecture;
    struct activations counted = {0}, *taken = arena_take(arena, 1, sizeof(*taken));
    struct activations *a = taken ? taken : &counted;
    struct block one = {0};

    a->block = arena_take(arena, (size_t)c->layers, sizeof(*a->block));
    team_layout(&a->team, threads, scratch_of(c), arena);
    a->embedded = take_plane(arena, max_rows, c->width);
    for (int64_t layer = 0; layer < c->layers; layer++)
        block_layout(a->block ? &a->block[layer] : &one, c, max_rows, arena);
    if (c->norm_placement == NORM_PRE) {
        a->final = take_plane(arena, max_rows, c->width);
        a->final_mean = take_plane(arena, max_rows, 1);
        a->final_scale = take_plane(arena, max_rows, 1);
    }
    a->logit_rows = max_rows < LOGIT_ROWS ? max_rows : LOGIT_ROWS;
    a->logits = take_plane(arena, a->logit_rows, c->vocabulary);
    a->loss = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->loss));
    a->share = take_plane(arena, a->logit_rows, 1);
    a->dstream = take_plane(arena, max_rows, c->width);
    a->dnorm = take_plane(arena, max_rows, c->width);
    a->dmixed = take_plane(arena, max_rows, c->width);
    a->dqkv = take_plane(arena, max_rows, 3 * c->width);
    a->dhidden = take_plane(arena, max_rows, c->feedforward);
    return taken;
}
