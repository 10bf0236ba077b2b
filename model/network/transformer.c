/*
 * The transformer: embeddings, L blocks of sub-layers (see sublayer.c), and the output layer with its
 * cross-entropy. Rows are the tokens of all sequences, packed; matrices are row-major; weights are [out, in].
 */
#include "model/network/transformer.h"

#include "model/layers/embedding.h"
#include "model/layers/rowwise.h"
#include "model/network/attention.h"
#include "model/network/pass.h"

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, struct arena *arena)
{
    *model = (struct transformer){.architecture = *architecture, .max_rows = max_rows};
    model->activations = activations_layout(architecture, max_rows, threads, arena);
    weight_layout_init(&model->layout, architecture, arena);
}

static struct linear output_of(const struct pass *pass)
{
    bool tied = pass->model->architecture.tied;

    return pass_linear(pass, tied ? TENSOR_TOKEN : TENSOR_OUTPUT, TENSOR_OUTPUT_BIAS, 0, 1);
}

static struct norm final_norm_of(const struct pass *pass)
{
    return pass_norm(pass, TENSOR_FINAL, TENSOR_FINAL_BIAS, 0, pass->a->final_mean, pass->a->final_scale);
}

const scalar *transformer_state(const struct transformer *model, int64_t layer)
{
    const struct block *block = &model->activations->block[layer];

    return block->sublayer[block->sublayers - 1].out;
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
        .token = pass_weight(pass, TENSOR_TOKEN, 0),
        .position = pass_weight(pass, TENSOR_POSITION, 0),
        .dtoken = pass_gradient(pass, TENSOR_TOKEN, 0),
        .dposition = pass_gradient(pass, TENSOR_POSITION, 0),
        .vocabulary = c->vocabulary,
        .context = c->context,
        .width = c->width,
        .add = c->tied,
    };
}

/* The state before block `layer`, or after the last block. */
static const scalar *stream(const struct pass *pass, int64_t layer)
{
    return layer ? transformer_state(pass->model, layer - 1) : pass->a->embedded;
}

/* The state before a sub-layer of a block. */
static const scalar *stream_before(const struct pass *pass, int64_t layer, int64_t sublayer)
{
    return sublayer ? pass->a->block[layer].sublayer[sublayer - 1].out : stream(pass, layer);
}

/* Returns the input of the output layer. */
static const scalar *forward(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct embedding embedding = embedding_of(pass);

    embedding_forward(&embedding, a->embedded, pass->batch);
    for (int64_t layer = 0; layer < c->layers; layer++)
        for (int64_t i = 0; i < a->block[layer].sublayers; i++)
            sublayer_forward(pass, &a->block[layer].sublayer[i], stream_before(pass, layer, i));
    if (c->norm_placement == NORM_PRE) {
        struct norm norm = final_norm_of(pass);
        norm_forward(&norm, a->final, stream(pass, c->layers), NULL, pass->batch->rows);
    }
    return transformer_final(pass->model);
}

/* Computes all gradients of blocks and embeddings from dstream at the output layer's input. */
static void backward(const struct pass *pass)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct embedding embedding = embedding_of(pass);

    if (c->norm_placement == NORM_PRE) {
        struct norm norm = final_norm_of(pass);
        norm_gradient(&norm, a->dstream, a->dstream, stream(pass, c->layers), pass->batch->rows, false);
    }
    for (int64_t layer = c->layers - 1; layer >= 0; layer--)
        for (int64_t i = a->block[layer].sublayers - 1; i >= 0; i--)
            sublayer_gradient(pass, &a->block[layer].sublayer[i], stream_before(pass, layer, i));
    embedding_gradient(&embedding, a->dstream, pass->batch);
}

/* The weight of a row's loss in the loss of the batch. *sequence is the sequence of an earlier row on entry,
 * that of this row on return. */
static double row_share(const struct batch *batch, int64_t row, int64_t *sequence)
{
    while (row >= batch->start[*sequence + 1])
        ++*sequence;
    return 1 / ((double)batch->sequences * (double)(batch->start[*sequence + 1] - batch->start[*sequence]));
}

/*
 * Output layer and loss of rows [begin, end), which lie in the sequences from *sequence on. With a gradient,
 * also the gradients of the output layer (added to unless begin is 0) and dstream.
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
    const struct block *block = &pass.a->block[layer];

    for (int64_t i = 0; i < block->sublayers; i++)
        if (block->sublayer[i].row == &sublayer_table[SUBLAYER_ATTENTION])
            attention_attended(&pass, &block->sublayer[i], count);
}

void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits)
{
    const struct pass pass = {.model = model, .a = model->activations, .batch = batch, .weights = weights};
    struct linear output = output_of(&pass);

    linear_forward(&output, logits, forward(&pass), NULL, batch->rows, false);
}
