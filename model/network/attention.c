/*
 * Self-attention and cross-attention. Queries come from the stream, keys and values from the stream or, in
 * cross-attention, from the memory: the output of the stack before. Queries, keys and values lie side by side
 * in the rows of one plane, as far as one product makes them; the planes of several products follow one
 * another. Norms of queries and keys write to planes of their own, since their gradients need their inputs;
 * rotary positions then turn both in place, since turns need none.
 */
#include "model/network/inside.h"

#include <string.h>

/* The tensors of self-attention and of cross-attention. */
struct attention_tensors {
    enum tensor_kind q, k, v, o, q_bias, k_bias, v_bias, o_bias;
    enum tensor_kind norm[2], norm_bias[2]; /* of queries, of keys */
};

static const struct attention_tensors self_tensors = {
    .q = TENSOR_Q,
    .k = TENSOR_K,
    .v = TENSOR_V,
    .o = TENSOR_O,
    .q_bias = TENSOR_Q_BIAS,
    .k_bias = TENSOR_K_BIAS,
    .v_bias = TENSOR_V_BIAS,
    .o_bias = TENSOR_O_BIAS,
    .norm = {TENSOR_Q_NORM, TENSOR_K_NORM},
    .norm_bias = {TENSOR_Q_NORM_BIAS, TENSOR_K_NORM_BIAS},
};

static const struct attention_tensors cross_tensors = {
    .q = TENSOR_CROSS_Q,
    .k = TENSOR_CROSS_K,
    .v = TENSOR_CROSS_V,
    .o = TENSOR_CROSS_O,
    .q_bias = TENSOR_CROSS_Q_BIAS,
    .k_bias = TENSOR_CROSS_K_BIAS,
    .v_bias = TENSOR_CROSS_V_BIAS,
    .o_bias = TENSOR_CROSS_O_BIAS,
    .norm = {TENSOR_CROSS_Q_NORM, TENSOR_CROSS_K_NORM},
    .norm_bias = {TENSOR_CROSS_Q_NORM_BIAS, TENSOR_CROSS_K_NORM_BIAS},
};

void attention_layout(
    struct sublayer *s, const struct architecture *a, int64_t rows, bool tangents, struct arena *arena)
{
    int64_t queries = extent_length(a, EXTENT_QUERIES), keys = extent_length(a, EXTENT_KEYS);
    struct attention_state *state = &s->state.attention;

    (void)tangents;
    *state = (struct attention_state){
        .projected = arena_plane(arena, rows, queries + 2 * keys),
        .mixed = arena_plane(arena, rows, queries),
        .most = arena_plane(arena, a->heads, rows),
        .inverse = arena_plane(arena, a->heads, rows),
    };
    if (!a->qk_norm)
        return;
    state->normed = arena_plane(arena, rows, queries + keys);
    for (int i = 0; i < 2; i++) {
        state->mean[i] = arena_plane(arena, rows, a->heads);
        state->scale[i] = arena_plane(arena, rows, a->heads);
    }
}

/* ---- one attention of a pass ---- */

/* One product: `count` matrices that follow one another, of the stream or the memory. */
struct projection {
    enum tensor_kind matrix, bias;
    int64_t count;
    bool of_memory;
    int64_t offset; /* of its plane in `projected` */
};

enum { PROJECTIONS_MOST = 3 };

/* What the functions of a pass share. */
struct attention {
    const struct pass *pass;
    const struct sublayer *s;
    const struct attention_tensors *tensors;
    enum qk_norm qk_norm;
    bool cross, rotary;
    int64_t width, key_width; /* of the queries, of the keys of a row */
    int64_t rows, key_rows;
    struct heads heads;
    int projections;
    struct projection projection[PROJECTIONS_MOST];
};

static struct attention attention_of(const struct pass *pass, const struct sublayer *s)
{
    const struct architecture *c = &pass->model->architecture;
    const struct stack *stack = pass_stack(pass), *tangent = pass_stack_tangent(pass);
    bool cross = s->row->cross;
    const struct attention_tensors *t = cross ? &cross_tensors : &self_tensors;
    const struct packed *keys = cross ? &pass->source : &pass->packed;
    int64_t width = extent_length(c, EXTENT_QUERIES), key_width = extent_length(c, EXTENT_KEYS);
    int64_t most = pass->model->max_rows, k_offset = most * width, v_offset = most * (width + key_width);
    struct attention at = {
        .pass = pass,
        .s = s,
        .tensors = t,
        .cross = cross,
        .qk_norm = c->qk_norm,
        .rotary = c->positions == POSITIONS_ROTARY && !cross,
        .width = width,
        .key_width = key_width,
        .rows = pass->packed.rows,
        .key_rows = keys->rows,
        .heads = {.team = &pass->a->team,
            .heads = c->heads,
            .kv_heads = architecture_kv_heads(c),
            .depth = architecture_depth(c),
            .scale = pass_score_scale(pass),
            .mask = cross ? MASK_NONE : stack->form.mask,
            .hard = pass->hard,
            .sequences = pass->packed.sequences,
            .start = pass->packed.start,
            .key_start = keys->start,
            .most = s->state.attention.most,
            .inverse = s->state.attention.inverse},
        .projections = 1,
        .projection[0] = {t->q, t->q_bias, c->qk_norm || cross ? 1 : 3, false, 0},
    };

    if (!cross)
        at.heads.relative = (struct relative){.reach = c->context - 1,
            .stride = relative_stride(c->context),
            .bias = stack->relative,
            .tbias = pass->tweights ? tangent->relative : NULL,
            .dbias = pass->gradient ? stack->drelative : NULL,
            .tdbias = pass->tgradient ? tangent->drelative : NULL};
    /* One product of all three; or of the queries, and of keys and values of the memory; or, before norms of
     * queries and keys, one of each. */
    if (c->qk_norm || cross)
        at.projection[at.projections++] =
            (struct projection){t->k, t->k_bias, c->qk_norm ? 1 : 2, cross, k_offset};
    if (c->qk_norm)
        at.projection[at.projections++] = (struct projection){t->v, t->v_bias, 1, cross, v_offset};
    return at;
}

/* Queries, keys and values in the plane of their products, before norms. */
static struct projected raw_in(const struct attention *at, scalar *plane)
{
    const struct projection *last = &at->projection[at->projections - 1];

    if (at->projections == 1)
        return projected_together(plane, at->width, at->key_width);
    scalar *k = plane + at->projection[1].offset;
    return (struct projected){.q = plane,
        .k = k,
        .v = at->qk_norm ? plane + last->offset : k + at->key_width,
        .q_stride = at->width,
        .kv_stride = last->count * at->key_width};
}

/* The same as the heads see them. `normed` is NULL without norms. */
static struct projected seen_in(const struct attention *at, scalar *plane, scalar *normed)
{
    struct projected seen = raw_in(at, plane);

    if (at->qk_norm) {
        seen.q = normed;
        seen.k = normed + at->pass->model->max_rows * at->width;
    }
    return seen;
}

static struct linear linear_of(const struct attention *at, const struct projection *projection)
{
    struct linear linear =
        pass_linear(at->pass, projection->matrix, projection->bias, at->s->layer, projection->count);

    if (projection->matrix == at->tensors->q)
        linear.out = at->width + (projection->count - 1) * at->key_width;
    return linear;
}

/* The norm of queries, 0, or of keys, 1: its rows are heads, or all heads of a row together. */
static struct norm norm_of(const struct attention *at, int i)
{
    const struct attention_state *state = &at->s->state.attention;

    return pass_norm(at->pass, at->tensors->norm[i], at->tensors->norm_bias[i], at->s->layer, state->mean[i],
        state->scale[i]);
}

static int64_t norm_rows_of(const struct attention *at, int i)
{
    int64_t rows = i == 0 ? at->rows : at->key_rows;

    if (at->qk_norm == QK_NORM_TOGETHER)
        return rows;
    return rows * (i == 0 ? at->heads.heads : at->heads.kv_heads);
}

static scalar *part_of(const struct projected *projected, int i)
{
    return i == 0 ? projected->q : projected->k;
}

/* Turns queries and keys, or their gradients back. */
static void turn(const struct attention *at, const struct projected *seen, bool back)
{
    const struct activations *a = at->pass->a;
    const struct heads *heads = &at->heads;
    const struct rotary rotary = {&a->team, a->cosine, a->sine, heads->depth};
    int64_t sequences = heads->sequences;

    if (!at->rotary)
        return;
    rotary_turn(&rotary, seen->q, seen->q_stride, heads->heads, sequences, heads->start, back);
    rotary_turn(&rotary, seen->k, seen->kv_stride, heads->kv_heads, sequences, heads->key_start, back);
}

/* ---- forward ---- */

void attention_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, struct dual in, const scalar *residual)
{
    const bool tangents = in.tangent;
    const struct attention at = attention_of(pass, s);
    const struct attention_state *state = &s->state.attention;
    const struct attention_state *to = tangents ? &s->tangent->state.attention : state;
    struct projected raw = raw_in(&at, state->projected), to_raw = raw_in(&at, to->projected);
    struct projected seen = seen_in(&at, state->projected, state->normed);
    struct projected to_seen = seen_in(&at, to->projected, to->normed);
    const struct linear output = pass_linear(pass, at.tensors->o, at.tensors->o_bias, s->layer, 1);

    for (int i = 0; i < at.projections; i++) {
        const struct projection *projection = &at.projection[i];
        bool of_memory = projection->of_memory;
        struct dual from = of_memory ? dual_of(pass->memory.at, pass->memory.tangent, tangents) : in;
        struct linear linear = linear_of(&at, projection);
        scalar *product = to->projected + projection->offset;
        int64_t rows = of_memory ? at.key_rows : at.rows;
        if (tangents && !from.tangent) /* a memory without a tangent does not change */
            memset(product, 0, (size_t)(rows * linear.out) * sizeof(*product));
        else
            linear_forward(&linear, product, from, NULL, NULL, rows);
    }
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        norm_forward(&norm, part_of(&to_seen, i), dual_of(part_of(&raw, i), part_of(&to_raw, i), tangents),
            NULL, norm_rows_of(&at, i));
    }
    turn(&at, &to_seen, false);
    heads_forward(&at.heads, to->mixed, &seen, tangents ? &to_seen : NULL);
    linear_forward(&output, out, dual_of(state->mixed, to->mixed, tangents), residual, NULL, at.rows);
}

/* ---- gradient ---- */

/*
 * A constant added to every key of a head changes no softmax, unless positions turn the keys or the mask
 * multiplies the scores: the gradient of the bias that is added last to the keys is 0, and optimisers that
 * normalise would blow up what rounding leaves of it.
 */
static void clear_key_bias(const struct attention *at, scalar *plane)
{
    const struct attention_tensors *t = at->tensors;
    scalar *bias = pass_gradient(at->pass, plane, at->qk_norm ? t->norm_bias[1] : t->k_bias, at->s->layer);
    int64_t bias_width =
        at->qk_norm ? extent_length(&at->pass->model->architecture, EXTENT_K_NORM) : at->key_width;

    if (bias && at->heads.mask != MASK_MULTIPLICATIVE && !at->rotary)
        memset(bias, 0, (size_t)bias_width * sizeof(*bias));
}

void attention_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, struct dual dout,
    struct dual in, bool add)
{
    const bool tangents = dout.tangent;
    const struct attention at = attention_of(pass, s);
    const struct activations *a = pass->a, *to = tangents ? a->tangent : a;
    const struct attention_state *state = &s->state.attention;
    const struct attention_state *t = tangents ? &s->tangent->state.attention : state;
    struct projected raw = raw_in(&at, state->projected), traw = raw_in(&at, t->projected);
    struct projected seen = seen_in(&at, state->projected, state->normed);
    struct projected tseen = seen_in(&at, t->projected, t->normed);
    struct projected dseen = seen_in(&at, a->dprojected, a->dnormed);
    struct projected to_dseen = seen_in(&at, to->dprojected, to->dnormed);
    struct projected to_draw = raw_in(&at, to->dprojected);
    const struct linear output = pass_linear(pass, at.tensors->o, at.tensors->o_bias, s->layer, 1);

    linear_weight_gradient(&output, dout, dual_of(state->mixed, t->mixed, tangents), at.rows, false);
    linear_input_gradient(&output, to->dmixed, dout, NULL, at.rows, false);
    heads_gradient(
        &at.heads, &to_dseen, dual_of(a->dmixed, to->dmixed, tangents), &seen, tangents ? &tseen : NULL);
    turn(&at, &to_dseen, true);
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        struct dual from = dual_of(part_of(&raw, i), part_of(&traw, i), tangents);
        struct dual dpart = dual_of(part_of(&dseen, i), part_of(&to_dseen, i), tangents);
        norm_gradient(&norm, part_of(&to_draw, i), dpart, from, norm_rows_of(&at, i), false);
    }
    /* Back through the products: the gradients of the matrices, of the stream and of the memory. */
    for (int i = 0; i < at.projections; i++) {
        const struct projection *projection = &at.projection[i];
        bool of_memory = projection->of_memory;
        int64_t offset = projection->offset, rows = of_memory ? at.key_rows : at.rows;
        const struct dual product = dual_of(a->dprojected + offset, to->dprojected + offset, tangents);
        struct linear linear = linear_of(&at, projection);
        linear_weight_gradient(&linear, product, of_memory ? pass->memory : in, rows, false);
        if (!of_memory)
            linear_input_gradient(&linear, din, product, NULL, rows, add || i > 0);
        else if (pass->to_memory)
            linear_input_gradient(&linear, to->dmemory, product, NULL, rows, true);
    }
    clear_key_bias(&at, tangents ? pass->tgradient : pass->gradient);
}

void attention_attended(const struct pass *pass, const struct sublayer *s, const struct attended *attended)
{
    const struct attention at = attention_of(pass, s);
    struct projected seen = seen_in(&at, s->state.attention.projected, s->state.attention.normed);

    heads_attended(&at.heads, attended, &seen);
}
