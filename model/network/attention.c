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
    int64_t width, key_width, heads, kv_heads, depth; /* H D, K, H, heads of keys, D */
    int64_t rows, key_rows;
    const int64_t *start, *key_start;
    int projections;
    struct projection projection[PROJECTIONS_MOST];
};

static void place_projections(struct attention *at)
{
    const struct attention_tensors *t = at->tensors;
    int64_t rows = at->pass->model->max_rows;
    const struct projection q = {t->q, t->q_bias, 1, false, 0};

    if (at->qk_norm) {
        at->projections = 3;
        at->projection[0] = q;
        at->projection[1] = (struct projection){t->k, t->k_bias, 1, at->cross, rows * at->width};
        at->projection[2] =
            (struct projection){t->v, t->v_bias, 1, at->cross, rows * (at->width + at->key_width)};
    } else if (at->cross) {
        at->projections = 2;
        at->projection[0] = q;
        at->projection[1] = (struct projection){t->k, t->k_bias, 2, true, rows * at->width};
    } else {
        at->projections = 1;
        at->projection[0] = (struct projection){t->q, t->q_bias, 3, false, 0};
    }
}

static struct attention attention_of(const struct pass *pass, const struct sublayer *s)
{
    const struct architecture *c = &pass->model->architecture;
    bool cross = s->row->cross;
    const struct packed *keys = cross ? &pass->source : &pass->packed;
    struct attention at = {
        .pass = pass,
        .s = s,
        .tensors = cross ? &cross_tensors : &self_tensors,
        .cross = cross,
        .qk_norm = c->qk_norm,
        .rotary = c->positions == POSITIONS_ROTARY && !cross,
        .width = extent_length(c, EXTENT_QUERIES),
        .key_width = extent_length(c, EXTENT_KEYS),
        .heads = c->heads,
        .kv_heads = architecture_kv_heads(c),
        .depth = architecture_depth(c),
        .rows = pass->packed.rows,
        .key_rows = keys->rows,
        .start = pass->packed.start,
        .key_start = keys->start,
    };

    place_projections(&at);
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

static int64_t rows_of(const struct attention *at, const struct projection *projection)
{
    return projection->of_memory ? at->key_rows : at->rows;
}

static struct linear output_of(const struct attention *at)
{
    return pass_linear(at->pass, at->tensors->o, at->tensors->o_bias, at->s->layer, 1);
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
    return rows * (i == 0 ? at->heads : at->kv_heads);
}

static scalar *part_of(const struct projected *projected, int i)
{
    return i == 0 ? projected->q : projected->k;
}

/* Turns queries and keys, or their gradients back. */
static void turn(const struct attention *at, const struct projected *seen, bool back)
{
    const struct activations *a = at->pass->a;
    const struct rotary rotary = {&a->team, a->cosine, a->sine, at->depth};
    int64_t sequences = at->pass->packed.sequences;

    if (!at->rotary)
        return;
    rotary_turn(&rotary, seen->q, seen->q_stride, at->heads, sequences, at->start, back);
    rotary_turn(&rotary, seen->k, seen->kv_stride, at->kv_heads, sequences, at->key_start, back);
}

static struct relative relative_of(const struct pass *pass)
{
    const struct stack *stack = pass_stack(pass), *tangent = pass_stack_tangent(pass);
    int64_t context = pass->model->architecture.context;

    return (struct relative){
        .reach = context - 1,
        .stride = relative_stride(context),
        .bias = stack->relative,
        .tbias = pass->tweights ? tangent->relative : NULL,
        .dbias = pass->gradient ? stack->drelative : NULL,
        .tdbias = pass->tgradient ? tangent->drelative : NULL,
    };
}

/* `relative` is what relative_of has given. */
static struct heads heads_of(const struct attention *at, const struct relative *relative)
{
    const struct pass *pass = at->pass;

    return (struct heads){
        .team = &pass->a->team,
        .heads = at->heads,
        .kv_heads = at->kv_heads,
        .depth = at->depth,
        .scale = pass_score_scale(pass),
        .mask = at->cross ? MASK_NONE : pass_stack(pass)->form.mask,
        .hard = pass->hard,
        .sequences = pass->packed.sequences,
        .start = at->start,
        .key_start = at->key_start,
        .most = at->s->state.attention.most,
        .inverse = at->s->state.attention.inverse,
        .relative = relative->bias && !at->cross ? relative : NULL,
    };
}

/* ---- forward ---- */

static void project(const struct attention *at, const scalar *in)
{
    const struct attention_state *state = &at->s->state.attention;

    for (int i = 0; i < at->projections; i++) {
        const struct projection *projection = &at->projection[i];
        struct linear linear = linear_of(at, projection);
        linear_forward(&linear, state->projected + projection->offset,
            projection->of_memory ? at->pass->memory.at : in, NULL, rows_of(at, projection), false);
    }
}

void attention_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual)
{
    const struct attention at = attention_of(pass, s);
    const struct attention_state *state = &s->state.attention;
    const struct relative relative = relative_of(pass);
    struct projected raw = raw_in(&at, state->projected);
    struct projected seen = seen_in(&at, state->projected, state->normed);
    struct heads heads = heads_of(&at, &relative);
    struct linear output = output_of(&at);

    project(&at, in);
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        norm_forward(&norm, part_of(&seen, i), part_of(&raw, i), NULL, norm_rows_of(&at, i));
    }
    turn(&at, &seen, false);
    heads_forward(&heads, state->mixed, &seen);
    linear_forward(&output, out, state->mixed, residual, at.rows, false);
}

/* ---- gradient ---- */

/* Where the gradients of queries and keys as the heads see them go. */
static struct projected gradient_seen(const struct attention *at, const struct activations *a)
{
    return seen_in(at, a->dprojected, a->dnormed);
}

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
    bool masked = !at->cross && pass_stack(at->pass)->form.mask == MASK_MULTIPLICATIVE;

    if (bias && !masked && !at->rotary)
        memset(bias, 0, (size_t)bias_width * sizeof(*bias));
}

/* Back through the products: the gradients of the matrices, of the stream and of the memory. */
static void project_back(const struct attention *at, scalar *din, const scalar *in, bool add)
{
    const struct pass *pass = at->pass;
    const struct activations *a = pass->a;

    for (int i = 0; i < at->projections; i++) {
        const struct projection *projection = &at->projection[i];
        const scalar *dout = a->dprojected + projection->offset;
        struct linear linear = linear_of(at, projection);
        int64_t rows = rows_of(at, projection);
        linear_weight_gradient(&linear, dout, projection->of_memory ? pass->memory.at : in, rows, false);
        if (!projection->of_memory)
            linear_input_gradient(&linear, din, dout, NULL, rows, add || i > 0);
        else if (pass->to_memory)
            linear_input_gradient(&linear, a->dmemory, dout, NULL, rows, true);
    }
}

void attention_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, const scalar *dout,
    const scalar *in, bool add)
{
    const struct attention at = attention_of(pass, s);
    const struct activations *a = pass->a;
    const struct attention_state *state = &s->state.attention;
    const struct relative relative = relative_of(pass);
    struct projected raw = raw_in(&at, state->projected), draw = raw_in(&at, a->dprojected);
    struct projected seen = seen_in(&at, state->projected, state->normed), dseen = gradient_seen(&at, a);
    struct heads heads = heads_of(&at, &relative);
    struct linear output = output_of(&at);

    linear_weight_gradient(&output, dout, state->mixed, at.rows, false);
    linear_input_gradient(&output, a->dmixed, dout, NULL, at.rows, false);
    heads_gradient(&heads, &dseen, a->dmixed, &seen);
    turn(&at, &dseen, true);
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        norm_gradient(
            &norm, part_of(&draw, i), part_of(&dseen, i), part_of(&raw, i), norm_rows_of(&at, i), false);
    }
    project_back(&at, din, in, add);
    clear_key_bias(&at, pass->gradient);
}

/* ---- tangents ---- */

/* The products' tangents. A memory without a tangent does not change. */
static void project_tangent(const struct attention *at, struct dual in)
{
    const struct attention_state *t = &at->s->tangent->state.attention;

    for (int i = 0; i < at->projections; i++) {
        const struct projection *projection = &at->projection[i];
        struct dual from = projection->of_memory ? at->pass->memory : in;
        struct linear linear = linear_of(at, projection);
        scalar *out = t->projected + projection->offset;
        int64_t rows = rows_of(at, projection);
        if (from.tangent)
            linear_tangent(&linear, out, from, NULL, NULL, rows);
        else
            memset(out, 0, (size_t)(rows * linear.out) * sizeof(*out));
    }
}

void attention_tangent(
    const struct pass *pass, const struct sublayer *s, scalar *tout, struct dual in, const scalar *tresidual)
{
    const struct attention at = attention_of(pass, s);
    const struct attention_state *state = &s->state.attention, *t = &s->tangent->state.attention;
    const struct relative relative = relative_of(pass);
    struct projected raw = raw_in(&at, state->projected), traw = raw_in(&at, t->projected);
    struct projected seen = seen_in(&at, state->projected, state->normed);
    struct projected tseen = seen_in(&at, t->projected, t->normed);
    struct heads heads = heads_of(&at, &relative);
    struct linear output = output_of(&at);

    project_tangent(&at, in);
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        struct dual from = {part_of(&raw, i), part_of(&traw, i)};
        norm_tangent(&norm, part_of(&tseen, i), from, NULL, norm_rows_of(&at, i));
    }
    turn(&at, &tseen, false);
    heads_tangent(&heads, t->mixed, &seen, &tseen);
    linear_tangent(&output, tout, (struct dual){state->mixed, t->mixed}, tresidual, NULL, at.rows);
}

/* The tangents of what project_back computes. */
static void project_back_tangent(const struct attention *at, scalar *tdin, struct dual in, bool add)
{
    const struct pass *pass = at->pass;
    const struct activations *a = pass->a, *ta = a->tangent;

    for (int i = 0; i < at->projections; i++) {
        const struct projection *projection = &at->projection[i];
        const struct dual dout = {a->dprojected + projection->offset, ta->dprojected + projection->offset};
        struct linear linear = linear_of(at, projection);
        int64_t rows = rows_of(at, projection);
        linear_weight_gradient_tangent(&linear, dout, projection->of_memory ? pass->memory : in, rows, false);
        if (!projection->of_memory)
            linear_input_gradient_tangent(&linear, tdin, dout, NULL, rows, add || i > 0);
        else if (pass->to_memory)
            linear_input_gradient_tangent(&linear, ta->dmemory, dout, NULL, rows, true);
    }
}

void attention_gradient_tangent(const struct pass *pass, const struct sublayer *s, scalar *tdin,
    struct dual dout, struct dual in, bool add)
{
    const struct attention at = attention_of(pass, s);
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct attention_state *state = &s->state.attention, *t = &s->tangent->state.attention;
    const struct relative relative = relative_of(pass);
    struct projected raw = raw_in(&at, state->projected), traw = raw_in(&at, t->projected);
    struct projected seen = seen_in(&at, state->projected, state->normed), dseen = gradient_seen(&at, a);
    struct projected tseen = seen_in(&at, t->projected, t->normed), tdseen = gradient_seen(&at, ta);
    struct projected tdraw = raw_in(&at, ta->dprojected);
    struct heads heads = heads_of(&at, &relative);
    struct linear output = output_of(&at);

    linear_weight_gradient_tangent(&output, dout, (struct dual){state->mixed, t->mixed}, at.rows, false);
    linear_input_gradient_tangent(&output, ta->dmixed, dout, NULL, at.rows, false);
    heads_gradient_tangent(&heads, &tdseen, (struct dual){a->dmixed, ta->dmixed}, &seen, &tseen);
    turn(&at, &tdseen, true);
    for (int i = 0; at.qk_norm && i < 2; i++) {
        struct norm norm = norm_of(&at, i);
        struct dual from = {part_of(&raw, i), part_of(&traw, i)};
        struct dual dpart = {part_of(&dseen, i), part_of(&tdseen, i)};
        norm_gradient_tangent(&norm, part_of(&tdraw, i), dpart, from, norm_rows_of(&at, i), false);
    }
    project_back_tangent(&at, tdin, in, add);
    clear_key_bias(&at, pass->tgradient);
}

void attention_attended(const struct pass *pass, const struct sublayer *s, int32_t *count)
{
    const struct attention at = attention_of(pass, s);
    const struct relative relative = relative_of(pass);
    struct projected seen = seen_in(&at, s->state.attention.projected, s->state.attention.normed);
    struct heads heads = heads_of(&at, &relative);

    heads_attended(&heads, count, &seen);
}
