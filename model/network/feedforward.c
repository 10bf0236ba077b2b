/*
 * out = W2 act(x W1), or W2 (act(x W1) * (x W3)) if gated. A plain relu is applied by the product that makes
 * its argument, and its gradient by the product that makes dhidden.
 */
#include "model/network/feedforward.h"

#include "model/layers/activation.h"
#include "model/network/pass.h"

static bool product_applies(const struct architecture *a)
{
    return a->activation == ACTIVATION_RELU && !a->gated;
}

void feedforward_layout(struct sublayer *s, const struct architecture *a, int64_t rows, struct arena *arena)
{
    struct feedforward_state *state = &s->state.feedforward;

    *state = (struct feedforward_state){.hidden = arena_plane(arena, rows, a->feedforward)};
    if (!product_applies(a))
        state->slope = arena_plane(arena, rows, a->feedforward);
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
    int64_t rows = pass->batch->rows;

    if (product_applies(c)) {
        linear_forward(&w1, state->hidden, in, NULL, rows, true);
    } else {
        linear_forward(&w1, state->slope, in, NULL, rows, false);
        activation_forward(team, c->activation, state->hidden, state->slope, rows * w1.out);
    }
    if (c->gated) {
        linear_forward(&w3, state->gate, in, NULL, rows, false);
        multiply(team, state->gated, state->hidden, state->gate, rows * w1.out);
    }
    linear_forward(&w2, out, c->gated ? state->gated : state->hidden, residual, rows, false);
}

/* a->dhidden, and a->dgate if gated, from dout. */
static void hidden_gradient(const struct pass *pass, const struct feedforward_state *state,
    const struct linear *w2, const scalar *dout)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    int64_t rows = pass->batch->rows, count = rows * w2->in;

    linear_input_gradient(w2, a->dhidden, dout, product_applies(c) ? state->hidden : NULL, rows, false);
    if (c->gated) {
        multiply(&a->team, a->dgate, a->dhidden, state->hidden, count);
        multiply(&a->team, a->dhidden, a->dhidden, state->gate, count);
    }
    if (!product_applies(c))
        multiply(&a->team, a->dhidden, a->dhidden, state->slope, count);
}

void feedforward_gradient(
    const struct pass *pass, const struct sublayer *s, scalar *din, scalar *dout, const scalar *in, bool add)
{
    const struct activations *a = pass->a;
    const struct feedforward_state *state = &s->state.feedforward;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer), w3 = w3_of(pass, s->layer);
    bool gated = pass->model->architecture.gated;
    int64_t rows = pass->batch->rows;

    linear_weight_gradient(&w2, dout, gated ? state->gated : state->hidden, rows, false);
    hidden_gradient(pass, state, &w2, dout);
    linear_weight_gradient(&w1, a->dhidden, in, rows, false);
    linear_input_gradient(&w1, din, a->dhidden, NULL, rows, add);
    if (gated) {
        linear_weight_gradient(&w3, a->dgate, in, rows, false);
        linear_input_gradient(&w3, din, a->dgate, NULL, rows, true);
    }
}
