#include "model/network/feedforward.h"

#include "model/layers/rowwise.h"
#include "model/network/pass.h"

void feedforward_layout(struct sublayer *s, const struct architecture *a, int64_t rows, struct arena *arena)
{
    s->state.feedforward = (struct feedforward_state){.hidden = arena_plane(arena, rows, a->feedforward)};
    if (a->activation != ACTIVATION_RELU)
        s->state.feedforward.slope = arena_plane(arena, rows, a->feedforward);
}

static struct linear w1_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_W1, TENSOR_W1_BIAS, layer, 1);
}

static struct linear w2_of(const struct pass *pass, int64_t layer)
{
    return pass_linear(pass, TENSOR_W2, TENSOR_W2_BIAS, layer, 1);
}

void feedforward_forward(
    const struct pass *pass, const struct sublayer *s, scalar *out, const scalar *in, const scalar *residual)
{
    const struct feedforward_state *state = &s->state.feedforward;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer);
    enum activation activation = pass->model->architecture.activation;
    int64_t rows = pass->batch->rows;

    if (activation == ACTIVATION_RELU) {
        linear_forward(&w1, state->hidden, in, NULL, rows, true);
    } else {
        linear_forward(&w1, state->slope, in, NULL, rows, false);
        gelu_forward(
            &pass->a->team, state->hidden, state->slope, rows * w1.out, activation == ACTIVATION_GELU_TANH);
    }
    linear_forward(&w2, out, state->hidden, residual, rows, false);
}

void feedforward_gradient(
    const struct pass *pass, const struct sublayer *s, scalar *din, scalar *dout, const scalar *in, bool add)
{
    const struct activations *a = pass->a;
    const struct feedforward_state *state = &s->state.feedforward;
    struct linear w1 = w1_of(pass, s->layer), w2 = w2_of(pass, s->layer);
    bool gelu = pass->model->architecture.activation != ACTIVATION_RELU;
    int64_t rows = pass->batch->rows;

    linear_weight_gradient(&w2, dout, state->hidden, rows, false);
    linear_input_gradient(&w2, a->dhidden, dout, gelu ? NULL : state->hidden, rows, false);
    if (gelu)
        gelu_gradient(&a->team, a->dhidden, state->slope, rows * w1.out);
    linear_weight_gradient(&w1, a->dhidden, in, rows, false);
    linear_input_gradient(&w1, din, a->dhidden, NULL, rows, add);
}
