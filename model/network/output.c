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

/* From the gradient of the output matrix's input, or its tangent, to that of x, in place. */
static void unscale_gradient(const struct pass *pass, scalar *din, int64_t rows)
{
    const struct architecture *c = &pass->model->architecture;

    if (c->output_scale != 0)
        add_scaled(&pass->a->team, din, NULL, din, c->output_scale, rows * c->width);
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

/*
 * `count` rows with a target, those of a->chosen from `begin` on. If every row of the batch has a target,
 * they lie side by side; else they are gathered, so that no product computes rows without a target.
 */
struct rows_block {
    int64_t begin, count;
    bool dense;
    struct dual in; /* [count, C] of the output layer's input */
    struct dual headed; /* [count, C] of the output matrix's input; set by block_loss */
    struct {
        scalar *d, *td;
    } din; /* where the gradient of these rows, and its tangent, go */
};

/* Writes the rows with a target to a->chosen; returns their number. */
static int64_t choose_rows(const struct pass *pass)
{
    const struct batch *batch = pass->batch;
    int64_t count = 0;

    for (int64_t row = 0; row < batch->rows; row++)
        if (batch->target[row] != NO_TARGET)
            pass->a->chosen[count++] = row;
    return count;
}

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
        block.din.d = a->dstream + begin * width;
        block.din.td = t ? t->dstream + begin * width : NULL;
        return block;
    }
    move_rows(a->gathered, (scalar *)x.at, row, block.count, width, false);
    if (x.tangent)
        move_rows(t->gathered, (scalar *)x.tangent, row, block.count, width, false);
    block.in = (struct dual){a->gathered, x.tangent ? t->gathered : NULL};
    block.din.d = a->dgathered;
    block.din.td = t ? t->dgathered : NULL;
    return block;
}

/* Puts the gradients of a gathered block back into the stream. */
static void scatter_gradients(const struct pass *pass, const struct rows_block *block)
{
    const struct activations *a = pass->a;
    const int64_t *row = a->chosen + block->begin, width = pass->model->architecture.width;

    if (block->dense)
        return;
    move_rows(block->din.d, a->dstream, row, block->count, width, true);
    if (pass->tgradient)
        move_rows(block->din.td, a->tangent->dstream, row, block->count, width, true);
}

/* What rows without a target have: no loss, no prediction, no gradient. */
static void clear_rows(const struct pass *pass, int64_t chosen)
{
    int64_t rows = pass->batch->rows;
    size_t size = (size_t)(rows * pass->model->architecture.width) * sizeof(scalar);

    if (chosen == rows)
        return;
    for (int64_t row = 0; pass->row_loss && row < rows; row++)
        pass->row_loss[row] = NAN;
    for (int64_t row = 0; pass->predicted && row < rows; row++)
        pass->predicted[row] = NO_TARGET;
    if (!pass->back)
        return;
    memset(pass->a->dstream, 0, size);
    if (pass->tgradient)
        memset(pass->a->tangent->dstream, 0, size);
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
    linear_weight_gradient(output, dlogits, block->headed, block->count, block->begin > 0);
    linear_input_gradient(output, din, dlogits, NULL, block->count, false);
    unscale_gradient(pass, din, block->count);
}

/* After that, its tangents. */
static void block_gradient_tangent(const struct pass *pass, const struct linear *output,
    const struct rows_block *block, const struct entropy *entropy)
{
    const struct activations *a = pass->a, *ta = a->tangent;
    int64_t count = block->count;

    linear_forward(output, ta->logits, block->headed, NULL, NULL, count);
    cross_entropy_tangent_rows(entropy, ta->loss, ta->logits, a->logits);
    for (int64_t i = 0; pass->tloss && i < count; i++)
        *pass->tloss += ta->loss[i];
    block_gradient(pass, output, block, block->din.td, (struct dual){a->logits, ta->logits});
}

/* Losses and predictions of rows, for the caller. */
static void give_rows(const struct pass *pass, const struct rows_block *block)
{
    const struct activations *a = pass->a;
    const int64_t *row = a->chosen + block->begin;

    for (int64_t i = 0; pass->row_loss && i < block->count; i++)
        pass->row_loss[row[i]] = a->loss[i];
    for (int64_t i = 0; pass->predicted && i < block->count; i++)
        pass->predicted[row[i]] = a->predicted[i];
}

/* The targets of the block's rows, and their weights in the loss. */
static void take_targets(const struct pass *pass, const struct rows_block *block, struct shares *shares)
{
    const struct activations *a = pass->a;

    for (int64_t i = 0; i < block->count; i++) {
        int64_t row = a->chosen[block->begin + i];
        a->target[i] = pass->batch->target[row];
        a->weight[i] = next_share(shares, row);
        a->share[i] = (scalar)a->weight[i];
    }
}

static struct entropy entropy_of(const struct pass *pass, int64_t count, int64_t vocabulary)
{
    const struct activations *a = pass->a;

    return (struct entropy){.team = &a->team,
        .target = a->target,
        .weight = pass->back ? a->share : NULL,
        .z_loss = pass->model->architecture.z_loss,
        .log_sum = a->log_sum,
        .rows = count,
        .vocabulary = vocabulary};
}

/* The loss of the block's rows; adds what z_loss adds to it. */
static double sum_losses(const struct pass *pass, int64_t count)
{
    const struct activations *a = pass->a;
    double loss = 0, square = 0;

    for (int64_t i = 0; i < count; i++)
        loss += a->weight[i] * a->loss[i];
    if (pass->penalty) {
        for (int64_t i = 0; i < count; i++)
            square += a->weight[i] * a->log_sum[i] * a->log_sum[i];
        *pass->penalty += pass->model->architecture.z_loss * square;
    }
    return loss;
}

static double block_loss(const struct pass *pass, struct rows_block *block, struct shares *shares)
{
    const struct activations *a = pass->a;
    struct linear output = output_linear(pass);
    int64_t count = block->count;
    const struct entropy entropy = entropy_of(pass, count, output.out);

    take_targets(pass, block, shares);
    block->headed = head_dual(pass, block->in, count);
    linear_forward(&output, a->logits, (struct dual){.at = block->headed.at}, NULL, NULL, count);
    if (pass->predicted)
        predicted_rows(&a->team, a->predicted, a->logits, count, output.out);
    cross_entropy_rows(&entropy, a->loss, a->logits);
    give_rows(pass, block);
    if (pass->back)
        block_gradient(pass, &output, block, block->din.d, (struct dual){.at = a->logits});
    if (pass->tgradient)
        block_gradient_tangent(pass, &output, block, &entropy);
    if (pass->back)
        scatter_gradients(pass, block);
    return sum_losses(pass, count);
}

double output_loss(const struct pass *pass, struct dual x)
{
    int64_t step = pass->a->logit_rows, chosen = choose_rows(pass);
    struct shares shares = {pass->batch, -1, 0};
    double loss = 0;

    clear_rows(pass, chosen);
    for (int64_t begin = 0; begin < chosen; begin += step) {
        struct rows_block block = place_block(pass, x, begin, chosen);
        loss += block_loss(pass, &block, &shares);
    }
    return loss;
}
