/*
 * Lays out what a pass keeps: blocks with their sub-layers, stacks, the output layer's rows, scratch for
 * the threads. The same function counts bytes and hands them out.
 */
#include "model/network/inside.h"

/* Rows of logits per block: enough for products to run at full speed, few enough to stay in the cache. */
enum { LOGIT_ROWS = 560 };

enum { SUBLAYERS_MOST = 3 };

static void block_layout(struct block *block, const struct architecture *a, int64_t layer, int64_t rows,
    bool tangents, struct arena *arena)
{
    enum sublayer_kind kind[SUBLAYERS_MOST] = {
        a->positions == POSITIONS_DISTANCE ? SUBLAYER_DISTANCE : SUBLAYER_ATTENTION};
    int64_t count = 1;

    if (architecture_stack(a, architecture_stack_of(a, layer)).cross)
        kind[count++] = SUBLAYER_CROSS;
    kind[count++] = SUBLAYER_FEEDFORWARD;
    struct sublayer *taken = arena_take(arena, (size_t)count, sizeof(*taken)), counted;
    for (int64_t i = 0; i < count; i++)
        sublayer_layout(taken ? &taken[i] : &counted, kind[i], layer, a, rows, tangents, arena);
    *block = (struct block){count, taken};
}

/* Scratch for the largest share of any work, in scalars. */
static int64_t scratch_of(const struct architecture *c, bool tangents)
{
    int64_t queries = extent_length(c, EXTENT_QUERIES), widest = queries > c->width ? queries : c->width;
    int64_t norm = 2 * widest;
    int64_t attention = c->positions == POSITIONS_DISTANCE
                            ? distances_scratch(c->context)
                            : heads_scratch(c->heads, architecture_depth(c), c->context,
                                  c->positions == POSITIONS_RELATIVE, tangents);
    int64_t most = attention > norm ? attention : norm;

    return most > PRODUCT_SCRATCH ? most : PRODUCT_SCRATCH;
}

/* What lies before and behind the blocks: the same planes for values and tangents. Those of the output layer
 * are for one block of rows. */
static void ends_layout(
    struct activations *a, const struct architecture *c, int64_t max_rows, struct arena *arena)
{
    a->stacks = architecture_stacks(c);
    for (int64_t i = 0; i < a->stacks; i++) {
        struct stack *stack = &a->stack[i];
        *stack = (struct stack){.form = architecture_stack(c, i)};
        stack->embedded = arena_plane(arena, max_rows, c->width);
        if (c->embedding_norm) {
            stack->summed = arena_plane(arena, max_rows, c->width);
            stack->summed_mean = arena_plane(arena, max_rows, 1);
            stack->summed_scale = arena_plane(arena, max_rows, 1);
        }
        if (c->norm_placement == NORM_PRE || c->final_norm) {
            stack->final = arena_plane(arena, max_rows, c->width);
            stack->final_mean = arena_plane(arena, max_rows, 1);
            stack->final_scale = arena_plane(arena, max_rows, 1);
        }
        if (c->positions == POSITIONS_RELATIVE) {
            stack->relative = arena_plane(arena, c->heads, relative_stride(c->context));
            stack->drelative = arena_plane(arena, c->heads, relative_stride(c->context));
        }
    }
    a->logit_rows = max_rows < LOGIT_ROWS ? max_rows : LOGIT_ROWS;
    a->logits = arena_plane(arena, a->logit_rows, c->vocabulary);
    a->gathered = arena_plane(arena, a->logit_rows, c->width);
    a->dgathered = arena_plane(arena, a->logit_rows, c->width);
    for (int i = 0; i < 2 && (c->transform || c->output_scale != 0); i++)
        a->headed[i] = arena_plane(arena, a->logit_rows, c->width);
    if (c->transform) {
        a->headed_mean = arena_plane(arena, a->logit_rows, 1);
        a->headed_scale = arena_plane(arena, a->logit_rows, 1);
    }
    a->target = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->target));
    a->predicted = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->predicted));
    a->loss = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->loss));
    a->weight = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->weight));
    a->log_sum = arena_take(arena, (size_t)a->logit_rows, sizeof(*a->log_sum));
    a->share = arena_plane(arena, a->logit_rows, 1);
}

/* The gradients, likewise for both. */
static void gradients_layout(
    struct activations *a, const struct architecture *c, int64_t max_rows, bool tangents, struct arena *arena)
{
    int64_t queries = extent_length(c, EXTENT_QUERIES), keys = extent_length(c, EXTENT_KEYS);

    a->dstream = arena_plane(arena, max_rows, c->width);
    a->dmemory = a->stacks > 1 ? arena_plane(arena, max_rows, c->width) : NULL;
    a->dnorm = arena_plane(arena, max_rows, c->width);
    a->dmixed = arena_plane(arena, max_rows, queries);
    a->dprojected = arena_plane(arena, max_rows, queries + 2 * keys);
    a->dnormed = c->qk_norm ? arena_plane(arena, max_rows, queries + keys) : NULL;
    a->dhidden = arena_plane(arena, max_rows, c->feedforward);
    a->dgate = c->gated ? arena_plane(arena, max_rows, c->feedforward) : NULL;
    a->dgated = tangents ? arena_plane(arena, max_rows, c->feedforward) : a->dhidden;
    a->dscaled = tangents ? arena_plane(arena, max_rows, c->width) : a->dnorm;
}

/* The constants of positions. */
static void positions_layout(struct activations *a, const struct architecture *c, struct arena *arena)
{
    int64_t depth = architecture_depth(c);

    if (c->positions == POSITIONS_SINUSOIDAL) {
        a->sinusoid = arena_plane(arena, c->context, c->width);
        if (a->sinusoid)
            sinusoidal_fill(a->sinusoid, c->context, c->width);
    }
    if (c->positions == POSITIONS_DISTANCE) {
        a->distances = arena_plane(arena, 2 * c->context - 1, c->width);
        if (a->distances)
            distances_fill(a->distances, c->context, c->width);
    }
    if (c->positions == POSITIONS_ROTARY) {
        a->cosine = arena_plane(arena, c->context, depth / 2);
        a->sine = arena_plane(arena, c->context, depth / 2);
        if (a->cosine && a->sine)
            rotary_fill(
                a->cosine, a->sine, c->context, depth, architecture_rotary_base(c), &c->rotary_scaling);
    }
}

/* A block like `first`, whose planes it shares. */
static void share_block(struct block *block, const struct block *first, int64_t layer, struct arena *arena)
{
    struct sublayer *taken = arena_take(arena, (size_t)first->sublayers, sizeof(*taken));

    for (int64_t i = 0; taken && i < first->sublayers; i++) {
        taken[i] = first->sublayer[i];
        taken[i].layer = layer;
    }
    *block = (struct block){first->sublayers, taken};
}

struct activations *activations_layout(const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool shared, bool tangents, struct arena *arena)
{
    const struct architecture *c = architecture;
    struct activations counted = {0}, *taken = arena_take(arena, 1 + tangents, sizeof(*taken));
    struct activations *a = taken ? taken : &counted;
    struct block one = {0};

    a->block = arena_take(arena, (size_t)architecture_blocks(c), sizeof(*a->block));
    team_layout(&a->team, c->precision, threads, scratch_of(c, tangents), arena);
    for (int64_t layer = 0; layer < architecture_blocks(c); layer++) {
        int64_t begin = architecture_stack(c, architecture_stack_of(c, layer)).begin;
        struct block *block = a->block ? &a->block[layer] : &one;
        if (shared && layer > begin)
            share_block(block, a->block ? &a->block[begin] : &one, layer, arena);
        else
            block_layout(block, c, layer, max_rows, tangents, arena);
    }
    ends_layout(a, c, max_rows, arena);
    if (!shared)
        gradients_layout(a, c, max_rows, tangents, arena);
    positions_layout(a, c, arena);
    a->chosen = arena_take(arena, (size_t)max_rows, sizeof(*a->chosen));
    if (tangents) {
        a->tangent = taken ? &taken[1] : &counted;
        ends_layout(a->tangent, c, max_rows, arena);
        gradients_layout(a->tangent, c, max_rows, tangents, arena);
    }
    return taken;
}
