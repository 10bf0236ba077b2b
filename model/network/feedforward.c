/*
 * out = W2 act(x W1), or W2 (act(x W1) * (x W3)) if gated. A plain relu is applied by the product that makes
 * its argument, and its gradient by the product that makes dhidden.
 */
#include "model/network/inside.h"

static bool product_applies(const struct architecture *a)
{
    return a->activation == ACTIVATION_RELU && !a->gated;
}

void feedforward_layout(
    struct sublayer *s, const struct architecture *a, int64_t rows, bool tangents, struct arena *arena)
{
    struct feedforward_state *state = &s->state.feedforward;

    *state = (struct feedforward_state){.hidden = arena_plane(arena, rows, a->feedforward)};
    if (!product_applies(a))
        state->slope = arena_plane(arena, rows, a->feedforward);
    if (tangents && !product_applies(a))
        state->curvature = arena_plane(arena, rows, a->feedforward);
    if (a->gated) {
        state->gate = arena_plane(arena, rows, a->feedforward);
        state->gated = arena_plane(arena, rows, a->feedforward);
    }
}

static struct linear w1_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_W1, TENSOR_W1_BIAS, layer, 1);
}

static struct linear w2_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_W2, TENSOR_W2_BIAS, layer, 1);
}

static struct linear w3_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_W3, TENSOR_W3_BIAS, layer, 1);
}

void feedforward_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual)
{
    const struct architecture *c = &pass->model->architecture;
    const struct feedforward_state *state = &s->state.feedforward;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer), w3 = w3_of(pass, s->layer);
    const struct team *team = &pass->a->team;
    int64_t rows = pass->packed.rows;

    if (product_applies(c)) {
        linear_forward(&w1, state->hidden, in, NULL, rows, true);
    } else {
        linear_forward(&w1, state->slope, in, NULL, rows, false);
        activation_forward(team, c->activation, state->hidden, state->slope, state->curvature, rows * w1.out);
    }
    if (c->gated) {
        linear_forward(&w3, state->gate, in, NULL, rows, false);
        multiply(team, state->gated, state->hidden, state->gate, rows * w1.out);
    }
    linear_forward(&w2, out, c->gated ? state->gated : state->hidden, residual, rows, false);
}

/* The input of W2 and its tangent. */
static struct dual input_of_w2(const struct architecture *c, const struct sublayer *s)
{
    const struct feedforward_state *state = &s->state.feedforward;
    const struct feedforward_state *t = s->tangent ? &s->tangent->state.feedforward : NULL;

    if (c->gated)
        return (struct dual){state->gated, t ? t->gated : NULL};
    return (struct dual){state->hidden, t ? t->hidden : NULL};
}

/* a->dhidden, and a->dgate if gated, from dout; a->dgated receives the gradient of the input of W2. */
static void hidden_gradient(const struct pass *pass, const struct feedforward_state *state,
    const struct linear *w2, const scalar *dout)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    const scalar *dactive = a->dgated;
    int64_t rows = pass->packed.rows, count = rows * w2->in;

    if (product_applies(c)) {
        linear_input_gradient(w2, a->dhidden, dout, state->hidden, rows, false);
        return;
    }
    linear_input_gradient(w2, a->dgated, dout, NULL, rows, false);
    if (c->gated) {
        multiply(&a->team, a->dgate, a->dgated, state->hidden, count);
        multiply(&a->team, a->dhidden, a->dgated, state->gate, count);
        dactive = a->dhidden;
    }
    multiply(&a->team, a->dhidden, dactive, state->slope, count);
}

void feedforward_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, const scalar *dout,
    const scalar *in, bool add)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer), w3 = w3_of(pass, s->layer);
    int64_t rows = pass->packed.rows;

    linear_weight_gradient(&w2, dout, input_of_w2(c, s).at, rows, false);
    hidden_gradient(pass, &s->state.feedforward, &w2, dout);
    linear_weight_gradient(&w1, a->dhidden, in, rows, false);
    linear_input_gradient(&w1, din, a->dhidden, NULL, rows, add);
    if (c->gated) {
        linear_weight_gradient(&w3, a->dgate, in, rows, false);
        linear_input_gradient(&w3, din, a->dgate, NULL, rows, true);
    }
}

/* In the place of the slope, s->tangent keeps the tangent of what the activation is applied to. */
void feedforward_tangent(
    const struct pass *pass, const struct sublayer *s, scalar *tout, struct dual in, const scalar *tresidual)
{
    const struct architecture *c = &pass->model->architecture;
    const struct feedforward_state *state = &s->state.feedforward, *t = &s->tangent->state.feedforward;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer), w3 = w3_of(pass, s->layer);
    const struct team *team = &pass->a->team;
    int64_t rows = pass->packed.rows, count = rows * w1.out;

    if (product_applies(c)) {
        linear_tangent(&w1, t->hidden, in, NULL, state->hidden, rows);
    } else {
        linear_tangent(&w1, t->slope, in, NULL, NULL, rows);
        multiply(team, t->hidden, t->slope, state->slope, count);
    }
    if (c->gated) {
        struct dual hidden = {state->hidden, t->hidden}, gate = {state->gate, t->gate};
        linear_tangent(&w3, t->gate, in, NULL, NULL, rows);
        multiply_tangent(team, t->gated, hidden, gate, count);
    }
    linear_tangent(&w2, tout, input_of_w2(c, s), tresidual, NULL, rows);
}

/*
 * The tangents of what hidden_gradient computes. Overwrites a->dgated, and its tangent, with what lies behind
 * the gate: the gradient of the activation's output.
 */
static void hidden_gradient_tangent(
    const struct pass *pass, const struct sublayer *s, const struct linear *w2, struct dual dout)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct feedforward_state *state = &s->state.feedforward, *t = &s->tangent->state.feedforward;
    const struct team *team = &a->team;
    int64_t rows = pass->packed.rows, count = rows * w2->in;
    struct dual dgated = {a->dgated, ta->dgated}, slope = {state->slope, ta->dhidden};

    if (product_applies(c)) {
        linear_input_gradient_tangent(w2, ta->dhidden, dout, state->hidden, rows, false);
        return;
    }
    linear_input_gradient_tangent(w2, ta->dgated, dout, NULL, rows, false);
    if (c->gated) {
        struct dual hidden = {state->hidden, t->hidden}, gate = {state->gate, t->gate};
        multiply_tangent(team, ta->dgate, dgated, hidden, count);
        multiply_tangent(team, ta->dgated, dgated, gate, count);
        multiply(team, a->dgated, a->dgated, state->gate, count);
    }
    multiply(team, ta->dhidden, state->curvature, t->slope, count);
    multiply_tangent(team, ta->dhidden, dgated, slope, count);
}

void feedforward_gradient_tangent(const struct pass *pass, const struct sublayer *s, scalar *tdin,
    struct dual dout, struct dual in, bool add)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a, *ta = a->tangent;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer), w3 = w3_of(pass, s->layer);
    struct dual dhidden = {a->dhidden, ta->dhidden}, dgate = {a->dgate, ta->dgate};
    int64_t rows = pass->packed.rows;

    linear_weight_gradient_tangent(&w2, dout, input_of_w2(c, s), rows, false);
    hidden_gradient_tangent(pass, s, &w2, dout);
    linear_weight_gradient_tangent(&w1, dhidden, in, rows, false);
    linear_input_gradient_tangent(&w1, tdin, dhidden, NULL, rows, add);
    if (c->gated) {
        linear_weight_gradient_tangent(&w3, dgate, in, rows, false);
        linear_input_gradient_tangent(&w3, tdin, dgate, NULL, rows, true);
    }
}
