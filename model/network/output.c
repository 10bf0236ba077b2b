/*
 * From the last stack's output to the loss: output matrix and cross-entropy in blocks of rows, so that
 * logits of a whole batch need not fit in memory, with gradients and tangents of both.
 */
#include "model/network/inside.h"

#include <math.h>
#include <string.h>

/* The output matrix, which is the token embedding if it is tied. */
static struct linear output_linear(const struct pass *pass)
{
    bool tied = pass->model->architecture.tied;

    return pass_linear(pass, tied ? TENSOR_TOKEN : TENSOR_OUTPUT, TENSOR_OUTPUT_BIAS, 0, 1);
}

/* ---- between the stream and the output matrix ---- */

/* norm(act(x W)) of up to logit_rows rows, in a->headed[0]. */
static const scalar *transform(const struct pass *pass, const scalar *x, int64_t rows)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a;
    struct linear linear = pass_linear(pass, TENSOR_TRANSFORM, TENSOR_TRANSFORM_BIAS, 0, 1);
    struct norm norm = pass_norm(
        pass, TENSOR_TRANSFORM_NORM, TENSOR_TRANSFORM_NORM_BIAS, 0, a->headed_mean, a->headed_scale);

    linear_forward(&linear, a->headed[0], (struct dual){.at = x}, NULL, NULL, rows);
    activation_forward(&a->team, c->activation, a->headed[1], a->headed[0], NULL, rows * c->width);
    norm_forward(&norm, a->headed[0], (struct dual){.at = a->headed[1]}, NULL, rows);
    return a->headed[0];
}

/* x times output_scale, in headed[1] of a plane of values or of tangents; or x itself. */
static const scalar *scaled(
    const struct pass *pass, const struct activations *planes, const scalar *x, int64_t rows)
{
    const struct architecture *c = &pass->model->architecture;

    if (c->output_scale == 0)
        return x;
    add_scaled(&pass->a->team, planes->headed[1], NULL, x, c->output_scale, rows * c->width);
    return planes->headed[1];
}

/* The output matrix's input from x, up to logit_rows rows of the output layer's input, with its tangent if x
 * has one; what has tangents has no transform. */
static struct dual head_dual(const struct pass *pass, struct dual x, int64_t rows)
{
    const scalar *at = pass->model->architecture.transform ? transform(pass, x.at, rows) : x.at;

    return (struct dual){
        scaled(pass, pass->a, at, rows), x.tangent ? scaled(pass, pass->a->tangent, x.tangent, rows) : NULL};
}

void output_logits(const struct pass *pass, scalar *logits, const scalar *x)
{
    struct linear output = output_linear(pass);
    int64_t rows = pass->batch->rows, step = pass->a->headed[0] ? pass->a->logit_rows : rows;

    for (int64_t begin = 0; begin < rows; begin += step) {
        int64_t count = begin + step < rows ? step : rows - begin;
        const struct dual in = head_dual(pass, (struct dual){.at = x + begin * output.in}, count);
        linear_forward(&output, logits + begin * output.out, in, NULL, NULL, count);
    }
}

/* ---- the rows of a block ---- */

/* `count` rows with a target, those of a->chosen from `begin` on. If every row of the batch has a target,
 * they lie side by side; else they are gathered, so that no product computes rows without a target. */
struct rows_block {
    int64_t begin, count;
    bool dense;
    struct dual in; /* [count, C] of the output layer's input */
    struct dual headed; /* [count, C] of the output matrix's input; set by block_loss */
    scalar *din, *tdin; /* where the gradient of these rows, and its tangent, go */
};

/* Copies rows of `from` [rows, width] side by side, or back if `back`. */
static void move_rows(
    scalar *gathered, scalar *from, const int64_t *row, int64_t count, int64_t width, bool back)
{
    for (int64_t i = 0; i < count; i++) {
        scalar *near = gathered + i * width, *far = from + row[i] * width;
        memcpy(back ? far : near, back ? near : far, (size_t)width * sizeof(*near));
    }
}

static struct rows_block place_block(const struct pass *pass, struct dual x, int64_t begin, int64_t chosen)
{
    const struct activations *a = pass->a, *t = a->tangent;
    const int64_t *row = a->chosen + begin, width = pass->model->architecture.width;
    struct rows_block block = {.begin = begin,
        .count = begin + a->logit_rows < chosen ? a->logit_rows : chosen - begin,
        .dense = chosen == pass->batch->rows};

    if (block.dense) {
        block.in = (struct dual){x.at + begin * width, x.tangent ? x.tangent + begin * width : NULL};
        block.din = a->dstream + begin * width;
        block.tdin = t ? t->dstream + begin * width : NULL;
        return block;
    }
    move_rows(a->gathered, (scalar *)x.at, row, block.count, width, false);
    if (x.tangent)
        move_rows(t->gathered, (scalar *)x.tangent, row, block.count, width, false);
    block.in = (struct dual){a->gathered, x.tangent ? t->gathered : NULL};
    block.din = a->dgathered;
    block.tdin = t ? t->dgathered : NULL;
    return block;
}

/* ---- shares ---- */

/* The weights of rows with a target in the loss of the batch; the rows come in order. */
struct shares {
    const struct batch *batch;
    int64_t sequence; /* that of the last row */
    double share; /* of each of its rows with a target */
};

static double next_share(struct shares *shares, int64_t row)
{
    const struct batch *batch = shares->batch;
    int64_t targets = 0;

    if (shares->sequence >= 0 && row < batch->start[shares->sequence + 1])
        return shares->share;
    do
        shares->sequence++;
    while (row >= batch->start[shares->sequence + 1]);
    for (int64_t i = batch->start[shares->sequence]; i < batch->start[shares->sequence + 1]; i++)
        targets += batch->target[i] != NO_TARGET;
    shares->share = 1 / ((double)batch->sequences * (double)targets);
    return shares->share;
}

/* ---- one block ---- */

/* From the gradient of the logits: the gradients of the output layer (added to unless the block is the first)
 * and of its input, `din`, or the tangents of both. */
static void block_gradient(const struct pass *pass, const struct linear *output,
    const struct rows_block *block, scalar *din, struct dual dlogits)
{
    const struct architecture *c = &pass->model->architecture;

    linear_weight_gradient(output, dlogits, block->headed, block->count, block->begin > 0);
    linear_input_gradient(output, din, dlogits, NULL, block->count, false);
    if (c->output_scale != 0)
        add_scaled(&pass->a->team, din, NULL, din, c->output_scale, block->count * c->width);
}

/* The loss of the block's rows; and, where the pass wants them, losses and predictions of rows, what z_loss
 * adds, and gradients with their tangents, which go back into the stream. */
static double block_loss(const struct pass *pass, struct rows_block *block, struct shares *shares)
{
    const struct architecture *c = &pass->model->architecture;
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct linear output = output_linear(pass);
    const int64_t *row = a->chosen + block->begin, count = block->count;
    const struct entropy entropy = {.team = &a->team,
        .target = a->target,
        .predicted = pass->predicted ? a->predicted : NULL,
        .weight = pass->back ? a->share : NULL,
        .z_loss = c->z_loss,
        .log_sum = a->log_sum,
        .rows = count,
        .vocabulary = output.out};
    double loss = 0, square = 0;

    for (int64_t i = 0; i < count; i++) {
        a->target[i] = pass->batch->target[row[i]];
        a->weight[i] = next_share(shares, row[i]);
        a->share[i] = (scalar)a->weight[i];
    }
    block->headed = head_dual(pass, block->in, count);
    linear_forward(&output, a->logits, (struct dual){.at = block->headed.at}, NULL, NULL, count);
    cross_entropy_rows(&entropy, a->loss, a->logits);
    for (int64_t i = 0; i < count; i++) {
        if (pass->row_loss)
            pass->row_loss[row[i]] = a->loss[i];
        if (pass->predicted)
            pass->predicted[row[i]] = a->predicted[i];
        loss += a->weight[i] * a->loss[i];
        square += a->weight[i] * a->log_sum[i] * a->log_sum[i];
    }
    if (pass->penalty)
        *pass->penalty += c->z_loss * square;
    if (pass->back)
        block_gradient(pass, &output, block, block->din, (struct dual){.at = a->logits});
    if (pass->tgradient) {
        linear_forward(&output, ta->logits, block->headed, NULL, NULL, count);
        cross_entropy_tangent_rows(&entropy, ta->loss, ta->logits, a->logits);
        for (int64_t i = 0; pass->tloss && i < count; i++)
            *pass->tloss += ta->loss[i];
        block_gradient(pass, &output, block, block->tdin, (struct dual){a->logits, ta->logits});
    }
    if (pass->back && !block->dense)
        move_rows(block->din, a->dstream, row, count, c->width, true);
    if (pass->tgradient && !block->dense)
        move_rows(block->tdin, ta->dstream, row, count, c->width, true);
    return loss;
}

double output_loss(const struct pass *pass, struct dual x)
{
    const struct activations *a = pass->a;
    const struct batch *batch = pass->batch;
    size_t size = (size_t)(batch->rows * pass->model->architecture.width) * sizeof(scalar);
    struct shares shares = {batch, -1, 0};
    int64_t chosen = 0;
    double loss = 0;

    for (int64_t row = 0; row < batch->rows; row++) {
        if (batch->target[row] != NO_TARGET) {
            a->chosen[chosen++] = row;
            continue;
        }
        if (pass->row_loss)
            pass->row_loss[row] = NAN;
        if (pass->predicted)
            pass->predicted[row] = NO_TARGET;
    }
    /* A row without a target has no gradient. */
    if (pass->back && chosen < batch->rows)
        memset(a->dstream, 0, size);
    if (pass->tgradient && chosen < batch->rows)
        memset(a->tangent->dstream, 0, size);
    for (int64_t begin = 0; begin < chosen; begin += a->logit_rows) {
        struct rows_block block = place_block(pass, x, begin, chosen);
        loss += block_loss(pass, &block, &shares);
    }
    return loss;
}
