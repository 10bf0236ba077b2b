/*
 * A stack as a whole: embeddings, its blocks one after the other, the final norm; and the way back. An
 * encoder-decoder has two, of which the second reads the output of the first.
 */
#include "model/network/inside.h"

#include <string.h>

/* ---- what lies before and behind the blocks ---- */

static bool is_last(const struct pass *pass)
{
    return pass->stack == pass->a->stacks - 1;
}

/* A stack's tensor: the encoder of an encoder-decoder has its own, see TENSORS. */
static enum tensor_kind kind_of(const struct pass *pass, enum tensor_kind last, enum tensor_kind encoder)
{
    return is_last(pass) ? last : encoder;
}

static struct norm final_norm_of(const struct pass *pass)
{
    const struct stack *stack = pass_stack(pass);

    return pass_norm(pass, kind_of(pass, TENSOR_FINAL, TENSOR_ENCODER_FINAL),
        kind_of(pass, TENSOR_FINAL_BIAS, TENSOR_ENCODER_FINAL_BIAS), 0, stack->final_mean,
        stack->final_scale);
}

/* The embeddings in a plane of weights, and their gradients. The tied output layer and the stacks behind have
 * written their gradients of the tokens before. */
static struct embedding embedding_of(const struct pass *pass, const scalar *weights, scalar *gradient)
{
    const struct architecture *c = &pass->model->architecture;
    enum tensor_kind position = kind_of(pass, TENSOR_POSITION, TENSOR_ENCODER_POSITION);

    return (struct embedding){
        .team = &pass->a->team,
        .token = pass_weight(pass, weights, TENSOR_TOKEN, 0),
        .position = pass_weight(pass, weights, position, 0),
        .type = pass_weight(pass, weights, TENSOR_TYPE, 0),
        .dtoken = pass_gradient(pass, gradient, TENSOR_TOKEN, 0),
        .dposition = pass_gradient(pass, gradient, position, 0),
        .vocabulary = c->vocabulary,
        .context = c->context,
        .width = c->width,
        .add = c->tied || !is_last(pass),
    };
}

/* The biases of scores by distance, from the table in a plane of weights. */
static void spread_relative(const struct pass *pass, const scalar *weights, scalar *relative)
{
    const struct architecture *c = &pass->model->architecture;
    enum tensor_kind kind = kind_of(pass, TENSOR_RELATIVE, TENSOR_ENCODER_RELATIVE);

    if (relative)
        relative_spread(relative, pass_weight(pass, weights, kind, 0), c->heads, c->context,
            pass_stack(pass)->form.mask == MASK_NONE);
}

/* ---- forward ---- */

void stack_place(const struct pass *pass)
{
    spread_relative(pass, pass->weights, pass_stack(pass)->relative);
}

void stack_finish(const struct pass *pass, struct dual state)
{
    const struct stack *to = state.tangent ? pass_stack_tangent(pass) : pass_stack(pass);
    struct norm norm = final_norm_of(pass);

    norm_forward(&norm, to->final, state, NULL, pass->packed.rows);
}

struct dual stack_block_forward(const struct pass *pass, int64_t layer, struct dual x)
{
    for (int64_t i = 0; i < pass->a->block[layer].sublayers; i++) {
        const struct sublayer *s = &pass->a->block[layer].sublayer[i];
        sublayer_forward(pass, s, x);
        x = (struct dual){s->out, x.tangent ? s->tangent->out : NULL};
    }
    return x;
}

/* All blocks and the final norm, from the stream before them. */
static void forward_from(const struct pass *pass, struct dual x)
{
    const struct stack *stack = pass_stack(pass);

    for (int64_t layer = stack->form.begin; layer < stack->form.end; layer++)
        x = stack_block_forward(pass, layer, x);
    if (stack->final)
        stack_finish(pass, x);
}

void stack_forward_blocks(const struct pass *pass)
{
    stack_place(pass);
    forward_from(pass, (struct dual){.at = pass_stack(pass)->embedded});
}

/* Puts the embeddings of the stack's tokens into `out`. */
static void embed(const struct pass *pass, const scalar *weights, scalar *out, bool fixed)
{
    struct embedding embedding = embedding_of(pass, weights, NULL);

    if (fixed && pass->a->sinusoid)
        embedding.position = pass->a->sinusoid;
    embedding_forward(&embedding, out, &pass->packed);
}

void stack_embed(const struct pass *pass, scalar *out)
{
    const struct stack *stack = pass_stack(pass);

    embed(pass, pass->weights, stack->summed ? stack->summed : out, true);
    if (!stack->summed)
        return;
    struct norm norm = pass_norm(
        pass, TENSOR_EMBEDDING_NORM, TENSOR_EMBEDDING_NORM_BIAS, 0, stack->summed_mean, stack->summed_scale);
    norm_forward(&norm, out, (struct dual){.at = stack->summed}, NULL, pass->packed.rows);
}

const scalar *stacks_forward(const struct pass *pass)
{
    for (int64_t stack = 0; stack < pass->a->stacks; stack++) {
        const struct pass in = pass_in(pass, stack);
        stack_embed(&in, pass_stack(&in)->embedded);
        stack_forward_blocks(&in);
    }
    return stack_output(pass->a, pass->a->stacks - 1).at;
}

const scalar *stacks_tangent(const struct pass *pass)
{
    for (int64_t stack = 0; stack < pass->a->stacks; stack++) {
        const struct pass in = pass_in(pass, stack);
        const struct stack *of = pass_stack(&in), *tangent = pass_stack_tangent(&in);
        embed(&in, in.tweights, tangent->embedded, false);
        spread_relative(&in, in.tweights, tangent->relative);
        forward_from(&in, (struct dual){of->embedded, tangent->embedded});
    }
    return stack_output(pass->a, pass->a->stacks - 1).tangent;
}

/* ---- gradients ---- */

/* The residual stream before sub-layer i of a block, and its tangent if the model takes any. */
static struct dual stream_before(const struct pass *pass, int64_t layer, int64_t i)
{
    if (i == 0)
        return stack_state(pass->a, pass->stack, layer - pass_stack(pass)->form.begin);
    const struct sublayer *s = &pass->a->block[layer].sublayer[i - 1];
    return (struct dual){s->out, s->tangent ? s->tangent->out : NULL};
}

void stack_block_gradient(const struct pass *pass, int64_t layer)
{
    const struct block *block = &pass->a->block[layer];

    for (int64_t i = block->sublayers - 1; i >= 0; i--)
        sublayer_gradient(pass, &block->sublayer[i], stream_before(pass, layer, i));
}

/* dstream back through the final norm. If another stack has read the output, its gradient is in dmemory. */
static void final_gradient(const struct pass *pass)
{
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct stack *stack = pass_stack(pass);
    int64_t rows = pass->packed.rows;
    size_t size = (size_t)(rows * pass->model->architecture.width) * sizeof(scalar);

    if (!is_last(pass))
        memcpy(a->dstream, a->dmemory, size);
    if (!is_last(pass) && pass->tgradient)
        memcpy(ta->dstream, ta->dmemory, size);
    if (!stack->final)
        return;
    struct dual in = stack_state(a, pass->stack, stack->form.end - stack->form.begin);
    struct norm norm = final_norm_of(pass);
    if (pass->tgradient)
        norm_gradient(&norm, ta->dstream, (struct dual){a->dstream, ta->dstream}, in, rows, false);
    norm_gradient(&norm, a->dstream, (struct dual){.at = a->dstream}, in, rows, false);
}

/* Clears what blocks add to, in the activations or in their tangents. */
static void clear_sums(const struct pass *pass, const struct activations *a)
{
    const struct architecture *c = &pass->model->architecture;
    const struct stack *stack = &a->stack[pass->stack];

    if (stack->form.cross)
        memset(a->dmemory, 0, (size_t)(pass->source.rows * c->width) * sizeof(scalar));
    if (stack->drelative)
        memset(stack->drelative, 0, (size_t)(c->heads * relative_stride(c->context)) * sizeof(scalar));
}

/* Back from the stack's output through its blocks. */
static void blocks_gradient(struct pass *pass)
{
    const struct stack_form *form = &pass_stack(pass)->form;

    pass->to_memory = form->cross;
    clear_sums(pass, pass->a);
    if (pass->tgradient)
        clear_sums(pass, pass->a->tangent);
    final_gradient(pass);
    for (int64_t layer = form->end - 1; layer >= form->begin; layer--)
        stack_block_gradient(pass, layer);
}

/* The gradients of the tables of biases by distance and of the embeddings, or their tangents. */
static void embeddings_gradient(const struct pass *pass, scalar *gradient, const struct activations *a)
{
    const struct architecture *c = &pass->model->architecture;
    const struct embedding embedding = embedding_of(pass, NULL, gradient);
    const struct stack *stack = &a->stack[pass->stack];
    enum tensor_kind relative = kind_of(pass, TENSOR_RELATIVE, TENSOR_ENCODER_RELATIVE);

    if (gradient && stack->drelative)
        relative_gather(pass_gradient(pass, gradient, relative, 0), stack->drelative, c->heads, c->context,
            stack->form.mask == MASK_NONE);
    embedding_gradient(&embedding, a->dstream, &pass->packed);
}

void stacks_gradient(const struct pass *pass)
{
    for (int64_t stack = pass->a->stacks - 1; stack >= 0; stack--) {
        struct pass in = pass_in(pass, stack);
        blocks_gradient(&in);
        embeddings_gradient(&in, in.gradient, in.a);
        if (in.tgradient)
            embeddings_gradient(&in, in.tgradient, in.a->tangent);
    }
}

void stacks_output_gradient(const struct pass *pass, int64_t stack)
{
    for (int64_t behind = pass->a->stacks - 1; behind > stack; behind--) {
        struct pass in = pass_in(pass, behind);
        blocks_gradient(&in);
    }
    const struct pass in = pass_in(pass, stack);
    final_gradient(&in);
}
