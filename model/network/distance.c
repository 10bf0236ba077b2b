/*
 * Self-attention with keys of distances, of encoders: XLNet's, without its second stream and its segments
 * (Yang et al. 2019). One product makes queries, keys and values; another makes the keys of the distances
 * that the pass has, once for all of its sequences. Both stay, and with them the queries with their biases,
 * so that weights can be counted after the pass without the tensors.
 */
#include "model/network/inside.h"

#include "model/core/check.h"

void distance_layout(
    struct sublayer *s, const struct architecture *a, int64_t rows, bool tangents, struct arena *arena)
{
    int64_t queries = extent_length(a, EXTENT_QUERIES), keys = extent_length(a, EXTENT_KEYS);

    INVARIANT(a->network == NETWORK_ENCODER && !a->qk_norm && !tangents,
        "network %d, qk_norm %d, tangents %d", (int)a->network, (int)a->qk_norm, tangents);
    s->state.distance = (struct distance_state){
        .projected = arena_plane(arena, rows, queries + 2 * keys),
        .queries = arena_plane(arena, rows, queries),
        .keys = arena_plane(arena, 2 * a->context - 1, queries),
        .mixed = arena_plane(arena, rows, queries),
    };
}

static struct distances distances_of(const struct pass *pass, const struct sublayer *s)
{
    const struct architecture *c = &pass->model->architecture;
    const struct distance_state *state = &s->state.distance;
    int64_t width = extent_length(c, EXTENT_QUERIES), key_width = extent_length(c, EXTENT_KEYS);

    return (struct distances){.team = &pass->a->team,
        .heads = c->heads,
        .kv_heads = architecture_kv_heads(c),
        .depth = architecture_depth(c),
        .scale = pass_score_scale(pass),
        .hard = pass->hard,
        .sequences = pass->packed.sequences,
        .start = pass->packed.start,
        .reach = c->context - 1,
        .keys = state->keys,
        .in = projected_together(state->projected, width, key_width),
        .queries = state->queries};
}

void distance_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, struct dual in, const scalar *residual)
{
    const struct architecture *c = &pass->model->architecture;
    const struct packed *packed = &pass->packed;
    const struct distance_state *state = &s->state.distance;
    const struct distances distances = distances_of(pass, s);
    struct linear linear = pass_linear(pass, TENSOR_Q, TENSOR_Q_BIAS, s->layer, 3);
    const struct linear output = pass_linear(pass, TENSOR_O, TENSOR_O_BIAS, s->layer, 1);
    const struct linear of_distances = {.team = &pass->a->team,
        .weight = pass_weight(pass, pass->weights, TENSOR_DISTANCE, s->layer),
        .in = c->width,
        .out = extent_length(c, EXTENT_QUERIES)};
    int64_t longest = 0;

    linear.out = extent_length(c, EXTENT_QUERIES) + 2 * extent_length(c, EXTENT_KEYS);
    linear_forward(&linear, state->projected, in, NULL, NULL, packed->rows);
    distances_bias(&distances, pass_weight(pass, pass->weights, TENSOR_CONTENT_BIAS, s->layer),
        pass_weight(pass, pass->weights, TENSOR_DISTANCE_BIAS, s->layer));
    /* The keys of all distances within the longest sequence. */
    for (int64_t i = 0; i < packed->sequences; i++) {
        int64_t length = packed->start[i + 1] - packed->start[i];
        longest = length > longest ? length : longest;
    }
    int64_t first = c->context - longest;
    linear_forward(&of_distances, state->keys + first * of_distances.out,
        (struct dual){.at = pass->a->distances + first * c->width}, NULL, NULL, 2 * longest - 1);
    distances_forward(&distances, state->mixed);
    linear_forward(&output, out, (struct dual){.at = state->mixed}, residual, NULL, packed->rows);
}

void distance_attended(const struct pass *pass, const struct sublayer *s, const struct attended *attended)
{
    const struct distances distances = distances_of(pass, s);

    INVARIANT(attended->count, "attention by distance of block %lld", (long long)s->layer);
    distances_attended(&distances, attended->count);
}
