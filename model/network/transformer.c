/*
 * The transformer: embeddings, L blocks of attention and feed-forward with LayerNorm in one of three places,
 * and the output layer with its cross-entropy.
 *
 * A block is two sub-layers S, each a struct sublayer with one LayerNorm, and the three arrangements differ
 * in sublayer_forward and sublayer_gradient alone:
 * - post: x' = LN(x + S(x))
 * - pre:  x' = x + S(LN(x))
 * - out:  x' = x + LN(S(x))
 *
 * Rows are the tokens of all sequences, packed; matrices are row-major; weights are [out, in].
 */
#include "model/network/transformer.h"

#include <string.h>

#include "model/layers/attention.h"
#include "model/layers/embedding.h"
#include "model/layers/linear.h"
#include "model/layers/rowwise.h"
#include "model/network/activations.h"

/* One pass over a batch. `gradient` is NULL in a forward pass, the only one whose attention may be `hard`;
 * row_loss and predicted are NULL where they are not wanted. */
struct pass {
    const struct transformer *model;
    const struct activations *a;
    const struct batch *batch;
    const scalar *weights;
    scalar *gradient;
    bool hard;
    double *row_loss; /* [rows] */
    int32_t *predicted; /* [rows] */
};

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, struct arena *arena)
{
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout(architecture, max_rows, threads, arena);
    weight_layout_init(&model->layout, architecture, arena);
}

/* A tensor in a plane; NULL for an absent one, or in a plane that is NULL. */
static scalar *in_plane(const struct pass *pass, scalar *plane, enum tensor_kind kind, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;
    const struct tensor *tensor = &pass->model->layout.tensor[tensor_index(c, kind, layer)];

    return plane && tensor->size ? plane + tensor->offset : NULL;
}

static const scalar *weight(const struct pass *pass, enum tensor_kind kind, int64_t layer)
{
    return in_plane(pass, (scalar *)pass->weights, kind, layer);
}

static scalar *gradient_of(const struct pass *pass, enum tensor_kind kind, int64_t layer)
{
    return in_plane(pass, pass->gradient, kind, layer);
}

/* A linear layer of the weight list with its bias, and where its gradients go. */
static struct linear linear_of(const struct pass *pass, enum tensor_kind matrix, enum tensor_kind bias,
    int64_t layer, int64_t in, int64_t out)
{
    return (struct linear){
        .team = &pass->a->team,
        .weight = weight(pass, matrix, layer),
        .bias = weight(pass, bias, layer),
        .dweight = gradient_of(pass, matrix, layer),
        .dbias = gradient_of(pass, bias, layer),
        .in = in,
        .out = out,
    };
}

static struct linear qkv_of(const struct pass *pass, int64_t layer)
{
    int64_t width = pass->model->architecture.width;
    return linear_of(pass, TENSOR_Q, TENSOR_Q_BIAS, layer, width, 3 * width); /* k and v lie behind q */
}

static struct linear projection_of(const struct pass *pass, int64_t layer)
{
    int64_t width = pass->model->architecture.width;
    return linear_of(pass, TENSOR_O, TENSOR_O_BIAS, layer, width, width);
}

static struct linear w1_of(const struct pass *pass, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;
    return linear_of(pass, TENSOR_W1, TENSOR_W1_BIAS, layer, c->width, c->feedforward);
}

static struct linear w2_of(const struct pass *pass, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;
    return linear_of(pass, TENSOR_W2, TENSOR_W2_BIAS, layer, c->feedforward, c->width);
}

static struct linear output_of(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    enum tensor_kind matrix = c->tied ? TENSOR_TOKEN : TENSOR_OUTPUT;
    return linear_of(pass, matrix, TENSOR_OUTPUT_BIAS, 0, c->width, c->vocabulary);
}

static struct heads heads_of(const struct pass *pass, int64_t layer)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct heads){
        .team = &pass->a->team,
        .heads = c->heads,
        .width = c->width,
        .multiplicative = c->attention_mask == MASK_MULTIPLICATIVE,
        .hard = pass->hard,
        .sequences = pass->batch->sequences,
        .start = pass->batch->start,
        .most = pass->a->block[layer].most,
        .inverse = pass->a->block[layer].inverse,
    };
}

/* S of a sub-layer: out = residual + S(in), residual may be NULL. */
typedef void sublayer_function(
    const struct pass *pass, int64_t layer, scalar *out, const scalar *in, const scalar *residual);

/* Its gradient: din (added to if `add`) from dout; din may be dout. */
typedef void sublayer_gradient_function(
    const struct pass *pass, int64_t layer, scalar *din, scalar *dout, const scalar *in, bool add);

static void attention_forward(
    const struct pass *pass, int64_t layer, scalar *out, const scalar *in, const scalar *residual)
{
    const struct block *block = &pass->a->block[layer];
    struct linear qkv = qkv_of(pass, layer), projection = projection_of(pass, layer);
    struct heads heads = heads_of(pass, layer);
    int64_t rows = pass->batch->rows;

    linear_forward(&qkv, block->qkv, in, NULL, rows, false);
    heads_forward(&heads, block->mixed, block->qkv);
    linear_forward(&projection, out, block->mixed, residual, rows, false);
}

static void attention_gradient(
    const struct pass *pass, int64_t layer, scalar *din, scalar *dout, const scalar *in, bool add)
{
    const struct activations *a = pass->a;
    const struct block *block = &a->block[layer];
    struct linear qkv = qkv_of(pass, layer), projection = projection_of(pass, layer);
    struct heads heads = heads_of(pass, layer);
    int64_t rows = pass->batch->rows, width = pass->model->architecture.width;

    linear_weight_gradient(&projection, dout, block->mixed, rows, false);
    linear_input_gradient(&projection, a->dmixed, dout, NULL, rows, false);
    heads_gradient(&heads, a->dqkv, a->dmixed, block->qkv);
    linear_weight_gradient(&qkv, a->dqkv, in, rows, false);
    linear_input_gradient(&qkv, din, a->dqkv, NULL, rows, add);
    /* A constant added to every key of a head changes no softmax: the sum is 0, and what rounding leaves of
     * it would be blown up by optimisers that normalise. With the multiplicative mask it does change the
     * scores. */
    if (qkv.dbias && !heads.multiplicative)
        memset(qkv.dbias + width, 0, (size_t)width * sizeof(*qkv.dbias));
}

static void feedforward_forward(
    const struct pass *pass, int64_t layer, scalar *out, const scalar *in, const scalar *residual)
{
    const struct block *block = &pass->a->block[layer];
    struct linear w1 = w1_of(pass, layer), w2 = w2_of(pass, layer);
    enum activation activation = pass->model->architecture.activation;
    int64_t rows = pass->batch->rows;

    if (activation == ACTIVATION_RELU) {
        linear_forward(&w1, block->hidden, in, NULL, rows, true);
    } else {
        linear_forward(&w1, block->slope, in, NULL, rows, false);
        gelu_forward(
            &pass->a->team, block->hidden, block->slope, rows * w1.out, activation == ACTIVATION_GELU_TANH);
    }
    linear_forward(&w2, out, block->hidden, residual, rows, false);
}

static void feedforward_gradient(
    const struct pass *pass, int64_t layer, scalar *din, scalar *dout, const scalar *in, bool add)
{
    const struct activations *a = pass->a;
    const struct block *block = &a->block[layer];
    struct linear w1 = w1_of(pass, layer), w2 = w2_of(pass, layer);
    bool gelu = pass->model->architecture.activation != ACTIVATION_RELU;
    int64_t rows = pass->batch->rows;

    linear_weight_gradient(&w2, dout, block->hidden, rows, false);
    linear_input_gradient(&w2, a->dhidden, dout, gelu ? NULL : block->hidden, rows, false);
    if (gelu)
        gelu_gradient(&a->team, a->dhidden, block->slope, rows * w1.out);
    linear_weight_gradient(&w1, a->dhidden, in, rows, false);
    linear_input_gradient(&w1, din, a->dhidden, NULL, rows, add);
}

/* Which sub-layer of a block, with its LayerNorm. */
struct kind_of_sublayer {
    sublayer_function *forward;
    sublayer_gradient_function *gradient;
    enum tensor_kind gain, bias;
};

static const struct kind_of_sublayer attention_kind = {
    attention_forward, attention_gradient, TENSOR_LN1, TENSOR_LN1_BIAS};
static const struct kind_of_sublayer feedforward_kind = {
    feedforward_forward, feedforward_gradient, TENSOR_LN2, TENSOR_LN2_BIAS};

static struct layernorm norm_of(const struct pass *pass, enum tensor_kind gain, enum tensor_kind bias,
    int64_t layer, scalar *mean, scalar *scale)
{
    return (struct layernorm){
        .team = &pass->a->team,
        .gain = weight(pass, gain, layer),
        .bias = weight(pass, bias, layer),
        .dgain = gradient_of(pass, gain, layer),
        .dbias = gradient_of(pass, bias, layer),
        .mean = mean,
        .scale = scale,
        .width = pass->model->architecture.width,
    };
}

static struct layernorm final_norm_of(const struct pass *pass)
{
    return norm_of(pass, TENSOR_FINAL, TENSOR_FINAL_BIAS, 0, pass->a->final_mean, pass->a->final_scale);
}

/* x' = s->out from x. */
static void sublayer_forward(const struct pass *pass, const struct kind_of_sublayer *kind, int64_t layer,
    const struct sublayer *s, const scalar *x)
{
    struct layernorm norm = norm_of(pass, kind->gain, kind->bias, layer, s->mean, s->scale);
    int64_t rows = pass->batch->rows;

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        kind->forward(pass, layer, s->norm, x, x);
        layernorm_forward(&norm, s->out, s->norm, NULL, rows);
        break;
    case NORM_PRE:
        layernorm_forward(&norm, s->norm, x, NULL, rows);
        kind->forward(pass, layer, s->out, s->norm, x);
        break;
    case NORM_OUT:
        kind->forward(pass, layer, s->norm, x, NULL);
        layernorm_forward(&norm, s->out, s->norm, x, rows);
        break;
    }
}

/* a->dstream from the gradient of x' to that of x. */
static void sublayer_gradient(const struct pass *pass, const struct kind_of_sublayer *kind, int64_t layer,
    const struct sublayer *s, const scalar *x)
{
    struct layernorm norm = norm_of(pass, kind->gain, kind->bias, layer, s->mean, s->scale);
    scalar *dstream = pass->a->dstream, *dnorm = pass->a->dnorm;
    int64_t rows = pass->batch->rows;

    switch (pass->model->architecture.norm_placement) {
    case NORM_POST:
        layernorm_gradient(&norm, dstream, dstream, s->norm, rows, false);
        memcpy(dnorm, dstream, (size_t)(rows * norm.width) * sizeof(*dnorm));
        kind->gradient(pass, layer, dstream, dnorm, x, true);
        break;
    case NORM_PRE:
        kind->gradient(pass, layer, dnorm, dstream, s->norm, false);
        layernorm_gradient(&norm, dstream, dnorm, x, rows, true);
        break;
    case NORM_OUT:
        layernorm_gradient(&norm, dnorm, dstream, s->norm, rows, false);
        kind->gradient(pass, layer, dstream, dnorm, x, true);
        break;
    }
}

const scalar *transformer_state(const struct transformer *model, int64_t layer)
{
    return model->activations->block[layer].feedforward.out;
}

const scalar *transformer_final(const struct transformer *model)
{
    const struct architecture *c = &model->architecture;

    return c->norm_placement == NORM_PRE ? model->activations->final
                                         : transformer_state(model, c->layers - 1);
}

static struct embedding embedding_of(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;

    return (struct embedding){
        .team = &pass->a->team,
        .token = weight(pass, TENSOR_TOKEN, 0),
        .position = weight(pass, TENSOR_POSITION, 0),
        .dtoken = gradient_of(pass, TENSOR_TOKEN, 0),
        .dposition = gradient_of(pass, TENSOR_POSITION, 0),
        .vocabulary = c->vocabulary,
        .context = c->context,
        .width = c->width,
        .add = c->tied,
    };
}

/* The state that enters each block, and after the last one. */
static const scalar *stream(const struct pass *pass, int64_t layer)
{
    return layer ? transformer_state(pass->model, layer - 1) : pass->a->embedded;
}

/* Returns what the output layer sees. */
static const scalar *forward(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct embedding embedding = embedding_of(pass);

    embedding_forward(&embedding, a->embedded, pass->batch);
    for (int64_t layer = 0; layer < c->layers; layer++) {
        const struct block *block = &a->block[layer];
        sublayer_forward(pass, &attention_kind, layer, &block->attention, stream(pass, layer));
        sublayer_forward(pass, &feedforward_kind, layer, &block->feedforward, block->attention.out);
    }
    if (c->norm_placement == NORM_PRE) {
        struct layernorm norm = final_norm_of(pass);
        layernorm_forward(&norm, a->final, stream(pass, c->layers), NULL, pass->batch->rows);
    }
    return transformer_final(pass->model);
}

/* From dstream at the output layer's input to all gradients of the blocks and embeddings. */
static void backward(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct embedding embedding = embedding_of(pass);

    if (c->norm_placement == NORM_PRE) {
        struct layernorm norm = final_norm_of(pass);
        layernorm_gradient(&norm, a->dstream, a->dstream, stream(pass, c->layers), pass->batch->rows, false);
    }
    for (int64_t layer = c->layers - 1; layer >= 0; layer--) {
        const struct block *block = &a->block[layer];
        sublayer_gradient(pass, &feedforward_kind, layer, &block->feedforward, block->attention.out);
        sublayer_gradient(pass, &attention_kind, layer, &block->attention, stream(pass, layer));
    }
    embedding_gradient(&embedding, a->dstream, pass->batch);
}

/* What a row's loss counts in that of the batch; *sequence is that of an earlier row, and becomes its own. */
static double row_share(const struct batch *batch, int64_t row, int64_t *sequence)
{
    while (row >= batch->start[*sequence + 1])
        ++*sequence;
    return 1 / ((double)batch->sequences * (double)(batch->start[*sequence + 1] - batch->start[*sequence]));
}

/*
 * Output layer and loss over rows [begin, end), which lie in the sequences from *sequence on; with a
 * gradient, also the output layer's (added to unless begin is 0) and dstream.
 */
static double output_rows(
    const struct pass *pass, const scalar *x, int64_t begin, int64_t end, int64_t *sequence)
{
    const struct activations *a = pass->a;
    const struct batch *batch = pass->batch;
    struct linear output = output_of(pass);
    const scalar *in = x + begin * output.in;
    int64_t first = *sequence;
    double loss = 0, *row_loss = pass->row_loss ? pass->row_loss + begin : a->loss;

    linear_forward(&output, a->logits, in, NULL, end - begin, false);
    if (pass->predicted)
        predicted_rows(&a->team, pass->predicted + begin, a->logits, end - begin, output.out);
    for (int64_t row = begin; row < end; row++)
        a->share[row - begin] = (scalar)row_share(batch, row, sequence);
    cross_entropy_rows(&a->team, row_loss, a->logits, batch->target + begin, pass->gradient ? a->share : NULL,
        end - begin, output.out);
    *sequence = first;
    for (int64_t row = begin; row < end; row++)
        loss += row_share(batch, row, sequence) * row_loss[row - begin];
    if (pass->gradient) {
        linear_weight_gradient(&output, a->logits, in, end - begin, begin > 0);
        linear_input_gradient(&output, a->dstream + begin * output.in, a->logits, NULL, end - begin, false);
    }
    return loss;
}

static double output_and_loss(const struct pass *pass, const scalar *x)
{
    int64_t rows = pass->batch->rows, step = pass->a->logit_rows, sequence = 0;
    double loss = 0;

    for (int64_t begin = 0; begin < rows; begin += step)
        loss += output_rows(pass, x, begin, begin + step < rows ? begin + step : rows, &sequence);
    return loss;
}

double transformer_evaluate(struct transformer *model, const scalar *weights, const struct batch *batch,
    double *row_loss, int32_t *predicted)
{
    struct pass pass = {.model = model,
        .a = model->activations,
        .batch = batch,
        .weights = weights,
        .row_loss = row_loss,
        .predicted = predicted};

    return output_and_loss(&pass, forward(&pass));
}

double transformer_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *gradient)
{
    struct pass pass = {model, model->activations, batch, weights, .gradient = gradient};
    double loss = output_and_loss(&pass, forward(&pass));

    backward(&pass);
    return loss;
}

void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard)
{
    const struct pass pass = {
        .model = model, .a = model->activations, .batch = batch, .weights = weights, .hard = hard};

    forward(&pass);
}

void transformer_attended(struct transformer *model, const struct batch *batch, int64_t layer, int32_t *count)
{
    const struct pass pass = {.model = model, .a = model->activations, .batch = batch};
    struct heads heads = heads_of(&pass, layer);

    heads_attended(&heads, count, pass.a->block[layer].qkv);
}

void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits)
{
    const struct pass pass = {.model = model, .a = model->activations, .batch = batch, .weights = weights};
    struct linear output = output_of(&pass);

    linear_forward(&output, logits, forward(&pass), NULL, batch->rows, false);
}
