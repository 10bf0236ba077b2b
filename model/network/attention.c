#include "model/network/attention.h"

#include <string.h>

#include "model/layers/attention.h"
#include "model/network/pass.h"

void attention_layout(
    struct sublayer *s, const struct architecture *a, int64_t rows, bool tangents, struct arena *arena)
{
    (void)tangents;
    s->state.attention = (struct attention_state){
        .qkv = arena_plane(arena, rows, 3 * a->width),
        .mixed = arena_plane(arena, rows, a->width),
        .most = arena_plane(arena, a->heads, rows),
        .inverse = arena_plane(arena, a->heads, rows),
    };
}

static struct linear qkv_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_Q, TENSOR_Q_BIAS, layer, 3); /* k and v lie behind q */
}

static struct linear projection_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_O, TENSOR_O_BIAS, layer, 1);
}

static struct heads heads_of(const struct pass *pass, const struct attention_state *state)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct heads){
        .team = &pass->a->team,
        .heads = c->heads,
        .kv_heads = c->heads,
        .depth = c->width / c->heads,
        .scale = heads_scale(c->width / c->heads),
        .mask = c->attention_mask,
        .hard = pass->hard,
        .sequences = pass->batch->sequences,
        .start = pass->batch->start,
        .key_start = pass->batch->start,
        .most = state->most,
        .inverse = state->inverse,
    };
}

static struct projected side_by_side(const struct pass *pass, scalar *qkv)
{
    int64_t width = pass->model->architecture.width;

    return projected_together(qkv, width, width);
}

void attention_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual)
{
    const struct attention_state *state = &s->state.attention;
    struct linear qkv = qkv_of(pass, s->layer), projection = projection_of(pass, s->layer);
    struct heads heads = heads_of(pass, state);
    struct projected projected = side_by_side(pass, state->qkv);
    int64_t rows = pass->batch->rows;

    linear_forward(&qkv, state->qkv, in, NULL, rows, false);
    heads_forward(&heads, state->mixed, &projected);
    linear_forward(&projection, out, state->mixed, residual, rows, false);
}

/* A constant added to every key of a head changes no softmax: the gradient of the keys' bias is 0, and
 * optimisers that normalise would blow up what rounding leaves of it. With the multiplicative mask it does
 * change the scores. */
static void clear_key_bias(const struct heads *heads, scalar *qkv_bias)
{
    int64_t width = heads->heads * heads->depth;

    if (qkv_bias && heads->mask != MASK_MULTIPLICATIVE)
        memset(qkv_bias + width, 0, (size_t)width * sizeof(*qkv_bias));
}

void attention_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, const scalar *dout,
    const scalar *in, bool add)
{
    const struct activations *a = pass->a;
    const struct attention_state *state = &s->state.attention;
    struct linear qkv = qkv_of(pass, s->layer), projection = projection_of(pass, s->layer);
    struct heads heads = heads_of(pass, state);
    struct projected projected = side_by_side(pass, state->qkv);
    struct projected gradient = side_by_side(pass, a->dqkv);
    int64_t rows = pass->batch->rows;

    linear_weight_gradient(&projection, dout, state->mixed, rows, false);
    linear_input_gradient(&projection, a->dmixed, dout, NULL, rows, false);
    heads_gradient(&heads, &gradient, a->dmixed, &projected);
    linear_weight_gradient(&qkv, a->dqkv, in, rows, false);
    linear_input_gradient(&qkv, din, a->dqkv, NULL, rows, add);
    clear_key_bias(&heads, qkv.dbias);
}

void attention_tangent(
    const struct pass *pass, const struct sublayer *s, scalar *tout, struct dual in, const scalar *tresidual)
{
    const struct attention_state *state = &s->state.attention, *t = &s->tangent->state.attention;
    struct linear qkv = qkv_of(pass, s->layer), projection = projection_of(pass, s->layer);
    struct heads heads = heads_of(pass, state);
    struct projected projected = side_by_side(pass, state->qkv);
    struct projected tprojected = side_by_side(pass, t->qkv);
    int64_t rows = pass->batch->rows;

    linear_tangent(&qkv, t->qkv, in, NULL, NULL, rows);
    heads_tangent(&heads, t->mixed, &projected, &tprojected);
    linear_tangent(&projection, tout, (struct dual){state->mixed, t->mixed}, tresidual, NULL, rows);
}

void attention_gradient_tangent(const struct pass *pass, const struct sublayer *s, scalar *tdin,
    struct dual dout, struct dual in, bool add)
{
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct attention_state *state = &s->state.attention, *t = &s->tangent->state.attention;
    struct linear qkv = qkv_of(pass, s->layer), projection = projection_of(pass, s->layer);
    struct heads heads = heads_of(pass, state);
    struct projected projected = side_by_side(pass, state->qkv);
    struct projected tprojected = side_by_side(pass, t->qkv);
    struct projected tgradient = side_by_side(pass, ta->dqkv);
    struct dual mixed = {state->mixed, t->mixed}, dmixed = {a->dmixed, ta->dmixed},
                dqkv = {a->dqkv, ta->dqkv};
    int64_t rows = pass->batch->rows;

    linear_weight_gradient_tangent(&projection, dout, mixed, rows, false);
    linear_input_gradient_tangent(&projection, ta->dmixed, dout, NULL, rows, false);
    heads_gradient_tangent(&heads, &tgradient, dmixed, &projected, &tprojected);
    linear_weight_gradient_tangent(&qkv, dqkv, in, rows, false);
    linear_input_gradient_tangent(&qkv, tdin, dqkv, NULL, rows, add);
    clear_key_bias(&heads, qkv.tdbias);
}

void attention_attended(const struct pass *pass, const struct sublayer *s, int32_t *count)
{
    struct heads heads = heads_of(pass, &s->state.attention);
    struct projected projected = side_by_side(pass, s->state.attention.qkv);

    heads_attended(&heads, count, &projected);
}
