#include "model/network/stack.h"

#include "model/layers/embedding.h"

static struct norm final_norm_of(const struct pass *pass)
{
    return pass_norm(pass, TENSOR_FINAL, TENSOR_FINAL_BIAS, 0, pass->a->final_mean, pass->a->final_scale);
}

static bool has_final_norm(const struct pass *pass)
{
    return pass->model->architecture.norm_placement == NORM_PRE;
}

/* The embeddings in a plane of weights, and their gradients. The tied output layer has written its gradient
 * before. */
static struct embedding embedding_of(const struct pass *pass, const scalar *weights, scalar *gradient)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct embedding){
        .team = &pass->a->team,
        .token = pass_weight(pass, weights, TENSOR_TOKEN, 0),
        .position = pass_weight(pass, weights, TENSOR_POSITION, 0),
        .dtoken = pass_gradient(pass, gradient, TENSOR_TOKEN, 0),
        .dposition = pass_gradient(pass, gradient, TENSOR_POSITION, 0),
        .vocabulary = c->vocabulary,
        .context = c->context,
        .width = c->width,
        .add = c->tied,
    };
}

static struct packed tokens_of(const struct pass *pass)
{
    const struct batch *batch = pass->batch;

    return (struct packed){batch->sequences, batch->rows, batch->start, batch->tokens};
}

static const struct sublayer *sublayer_of(const struct pass *pass, int64_t layer, int64_t i)
{
    return &pass->a->block[layer].sublayer[i];
}

static const struct sublayer *last_sublayer_of(const struct pass *pass, int64_t layer)
{
    return sublayer_of(pass, layer, pass->a->block[layer].sublayers - 1);
}

/* The residual stream before block `layer`, or after the last block, and its tangent if the model takes any.
 */
static struct dual stream(const struct pass *pass, int64_t layer)
{
    const struct activations *a = pass->a;

    if (layer == 0)
        return (struct dual){a->embedded, a->tangent ? a->tangent->embedded : NULL};
    const struct sublayer *s = last_sublayer_of(pass, layer - 1);
    return (struct dual){s->out, s->tangent ? s->tangent->out : NULL};
}

/* The same before sub-layer i of a block. */
static struct dual stream_before(const struct pass *pass, int64_t layer, int64_t i)
{
    const struct sublayer *s = i ? sublayer_of(pass, layer, i - 1) : NULL;

    return s ? (struct dual){s->out, s->tangent ? s->tangent->out : NULL} : stream(pass, layer);
}

const scalar *stack_forward_blocks(const struct pass *pass)
{
    const struct activations *a = pass->a;
    int64_t layers = pass->model->architecture.layers;

    for (int64_t layer = 0; layer < layers; layer++)
        for (int64_t i = 0; i < a->block[layer].sublayers; i++)
            sublayer_forward(pass, sublayer_of(pass, layer, i), stream_before(pass, layer, i).at);
    if (!has_final_norm(pass))
        return stream(pass, layers).at;
    struct norm norm = final_norm_of(pass);
    norm_forward(&norm, a->final, stream(pass, layers).at, NULL, pass->batch->rows);
    return a->final;
}

const scalar *stack_forward(const struct pass *pass)
{
    struct packed packed = tokens_of(pass);
    struct embedding embedding = embedding_of(pass, pass->weights, NULL);

    embedding_forward(&embedding, pass->a->embedded, &packed);
    return stack_forward_blocks(pass);
}

const scalar *stack_block_tangent(const struct pass *pass, int64_t layer, const scalar *tstate)
{
    struct dual x = {stream(pass, layer).at, tstate};

    for (int64_t i = 0; i < pass->a->block[layer].sublayers; i++) {
        sublayer_tangent(pass, sublayer_of(pass, layer, i), x);
        x = stream_before(pass, layer, i + 1);
    }
    return x.tangent;
}

const scalar *stack_tangent(const struct pass *pass)
{
    const struct activations *ta = pass->a->tangent;
    int64_t layers = pass->model->architecture.layers;
    struct packed packed = tokens_of(pass);
    struct embedding embedding = embedding_of(pass, pass->tweights, NULL);
    const scalar *tstate = ta->embedded;

    embedding_forward(&embedding, ta->embedded, &packed);
    for (int64_t layer = 0; layer < layers; layer++)
        tstate = stack_block_tangent(pass, layer, tstate);
    if (!has_final_norm(pass))
        return tstate;
    struct norm norm = final_norm_of(pass);
    norm_tangent(&norm, ta->final, stream(pass, layers), NULL, pass->batch->rows);
    return ta->final;
}

void stack_block_gradient(const struct pass *pass, int64_t layer)
{
    for (int64_t i = pass->a->block[layer].sublayers - 1; i >= 0; i--)
        sublayer_gradient(pass, sublayer_of(pass, layer, i), stream_before(pass, layer, i));
}

void stack_final_gradient(const struct pass *pass)
{
    const struct activations *a = pass->a, *ta = a->tangent;
    int64_t rows = pass->batch->rows;
    struct dual in = stream(pass, pass->model->architecture.layers);

    if (!has_final_norm(pass))
        return;
    struct norm norm = final_norm_of(pass);
    if (pass->tgradient)
        norm_gradient_tangent(&norm, ta->dstream, (struct dual){a->dstream, ta->dstream}, in, rows, false);
    norm_gradient(&norm, a->dstream, a->dstream, in.at, rows, false);
}

void stack_gradient(const struct pass *pass)
{
    const struct activations *a = pass->a;
    struct packed packed = tokens_of(pass);
    struct embedding embedding = embedding_of(pass, NULL, pass->gradient);
    struct embedding tangent = embedding_of(pass, NULL, pass->tgradient);

    stack_final_gradient(pass);
    for (int64_t layer = pass->model->architecture.layers - 1; layer >= 0; layer--)
        stack_block_gradient(pass, layer);
    embedding_gradient(&embedding, a->dstream, &packed);
    if (pass->tgradient)
        embedding_gradient(&tangent, a->tangent->dstream, &packed);
}
