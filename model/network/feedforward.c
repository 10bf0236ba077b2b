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

/* The input of W2, with its tangent if `tangents`. */
static struct dual input_of_w2(const struct architecture *c, const struct sublayer *s, bool tangents)
{
    const struct feedforward_state *state = &s->state.feedforward;
    const struct feedforward_state *t = tangents ? &s->tangent->state.feedforward : state;

    return c->gated ? dual_of(state->gated, t->gated, tangents) : dual_of(state->hidden, t->hidden, tangents);
}

/* In the place of the slope, s->tangent keeps the tangent of what the activation is applied to. */
void feedforward_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, struct dual in, const scalar *residual)
{
    const bool tangents = in.tangent;
    const struct architecture *c = &pass->model->architecture;
    const struct feedforward_state *state = &s->state.feedforward;
    const struct feedforward_state *to = tangents ? &s->tangent->state.feedforward : state;
    const struct linear w1 = pass_linear(pass, TENSOR_W1, TENSOR_W1_BIAS, s->layer, 1);
    const struct linear w2 = pass_linear(pass, TENSOR_W2, TENSOR_W2_BIAS, s->layer, 1);
    const struct linear w3 = pass_linear(pass, TENSOR_W3, TENSOR_W3_BIAS, s->layer, 1);
    const struct team *team = &pass->a->team;
    int64_t rows = pass->packed.rows, count = rows * w1.out;

    linear_forward(&w1, product_applies(c) ? to->hidden : to->slope, in, NULL,
        product_applies(c) ? state->hidden : NULL, rows);
    if (!product_applies(c) && tangents)
        multiply(team, to->hidden, (struct dual){.at = to->slope}, (struct dual){.at = state->slope}, count);
    else if (!product_applies(c))
        activation_forward(team, c->activation, state->hidden, state->slope, state->curvature, count);
    if (c->gated) {
        linear_forward(&w3, to->gate, in, NULL, NULL, rows);
        multiply(team, to->gated, dual_of(state->hidden, to->hidden, tangents),
            dual_of(state->gate, to->gate, tangents), count);
    }
    linear_forward(&w2, out, input_of_w2(c, s, tangents), residual, NULL, rows);
}

/*
 * Computes dhidden, and dgate if gated, from dout. dgated is the gradient of the input of W2; if the model
 * takes no tangents, it is dhidden itself. Tangents come second, and overwrite a->dgated and its tangent with
 * what lies behind the gate, the gradient of the activation's output. Where the product with W2 applies relu,
 * it gives dhidden at once.
 */
void feedforward_gradient(const struct pass *pass, const struct sublayer *s, scalar *din, struct dual dout,
    struct dual in, bool add)
{
    const bool tangents = dout.tangent;
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a, *to = tangents ? a->tangent : a;
    const struct feedforward_state *state = &s->state.feedforward;
    const struct feedforward_state *t = tangents ? &s->tangent->state.feedforward : state;
    const struct team *team = &a->team;
    const struct linear w1 = pass_linear(pass, TENSOR_W1, TENSOR_W1_BIAS, s->layer, 1);
    const struct linear w2 = pass_linear(pass, TENSOR_W2, TENSOR_W2_BIAS, s->layer, 1);
    const struct linear w3 = pass_linear(pass, TENSOR_W3, TENSOR_W3_BIAS, s->layer, 1);
    struct dual dgated = dual_of(a->dgated, to->dgated, tangents);
    struct dual dhidden = dual_of(a->dhidden, to->dhidden, tangents);
    struct dual dgate = dual_of(a->dgate, to->dgate, tangents);
    struct dual gate = dual_of(state->gate, t->gate, tangents), slope = {.at = state->slope};
    int64_t rows = pass->packed.rows, count = rows * w2.in;
    bool applied = product_applies(c);

    linear_weight_gradient(&w2, dout, input_of_w2(c, s, tangents), rows, false);
    linear_input_gradient(
        &w2, applied ? to->dhidden : to->dgated, dout, applied ? state->hidden : NULL, rows, false);
    if (c->gated)
        multiply(team, to->dgate, dgated, dual_of(state->hidden, t->hidden, tangents), count);
    if (!applied && tangents) {
        if (c->gated) {
            multiply(team, to->dgated, dgated, gate, count);
            multiply(team, a->dgated, (struct dual){.at = a->dgated}, (struct dual){.at = gate.at}, count);
        }
        multiply(
            team, to->dhidden, (struct dual){.at = state->curvature}, (struct dual){.at = t->slope}, count);
        slope.tangent = to->dhidden;
        multiply(team, to->dhidden, dgated, slope, count);
    } else if (!applied) {
        if (c->gated)
            multiply(team, a->dhidden, dgated, gate, count);
        multiply(team, a->dhidden, (struct dual){.at = c->gated ? a->dhidden : a->dgated}, slope, count);
    }
    linear_weight_gradient(&w1, dhidden, in, rows, false);
    linear_input_gradient(&w1, din, dhidden, NULL, rows, add);
    if (c->gated) {
        linear_weight_gradient(&w3, dgate, in, rows, false);
        linear_input_gradient(&w3, din, dgate, NULL, rows, true);
    }
}
