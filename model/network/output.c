#include "model/network/output.h"

#include "model/layers/rowwise.h"

struct linear output_linear(const struct pass *pass)
{
    bool tied = pass->model->architecture.tied;

    return pass_linear(pass, tied ? TENSOR_TOKEN : TENSOR_OUTPUT, TENSOR_OUTPUT_BIAS, 0, 1);
}

/* The weight of a row's loss in the loss of the batch. *sequence is the sequence of an earlier row on entry,
 * that of this row on return. */
static double row_share(const struct batch *batch, int64_t row, int64_t *sequence)
{
    while (row >= batch->start[*sequence + 1])
        ++*sequence;
    return 1 / ((double)batch->sequences * (double)(batch->start[*sequence + 1] - batch->start[*sequence]));
}

/* From the gradient of `count` rows of logits, from row `begin` on: the gradients of the output layer (added
 * to unless begin is 0) and dstream. */
static void rows_gradient(
    const struct pass *pass, const struct linear *output, const scalar *in, int64_t begin, int64_t count)
{
    const struct activations *a = pass->a;

    linear_weight_gradient(output, a->logits, in, count, begin > 0);
    linear_input_gradient(output, a->dstream + begin * output->in, a->logits, NULL, count, false);
}

/* After that, its tangents. */
static void rows_gradient_tangent(
    const struct pass *pass, const struct linear *output, struct dual in, int64_t begin, int64_t count)
{
    const struct activations *a = pass->a, *ta = a->tangent;
    const struct dual dlogits = {a->logits, ta->logits};

    linear_tangent(output, ta->logits, in, NULL, NULL, count);
    cross_entropy_tangent_rows(
        &a->team, ta->loss, ta->logits, a->logits, pass->batch->target + begin, a->share, count, output->out);
    for (int64_t row = 0; pass->tloss && row < count; row++)
        *pass->tloss += ta->loss[row];
    linear_weight_gradient_tangent(output, dlogits, in, count, begin > 0);
    linear_input_gradient_tangent(output, ta->dstream + begin * output->in, dlogits, NULL, count, false);
}

/* Rows [begin, end), which lie in the sequences from *sequence on. */
static double rows_loss(const struct pass *pass, struct dual x, int64_t begin, int64_t end, int64_t *sequence)
{
    const struct activations *a = pass->a;
    const struct batch *batch = pass->batch;
    struct linear output = output_linear(pass);
    const struct dual in = {x.at + begin * output.in, x.tangent ? x.tangent + begin * output.in : NULL};
    int64_t first = *sequence, count = end - begin;
    double loss = 0, *row_loss = pass->row_loss ? pass->row_loss + begin : a->loss;

    linear_forward(&output, a->logits, in.at, NULL, count, false);
    if (pass->predicted)
        predicted_rows(&a->team, pass->predicted + begin, a->logits, count, output.out);
    for (int64_t row = begin; row < end; row++)
        a->share[row - begin] = (scalar)row_share(batch, row, sequence);
    cross_entropy_rows(&a->team, row_loss, a->logits, batch->target + begin, pass->back ? a->share : NULL,
        count, output.out);
    *sequence = first;
    for (int64_t row = begin; row < end; row++)
        loss += row_share(batch, row, sequence) * row_loss[row - begin];
    if (pass->back)
        rows_gradient(pass, &output, in.at, begin, count);
    if (pass->tgradient)
        rows_gradient_tangent(pass, &output, in, begin, count);
    return loss;
}

double output_loss(const struct pass *pass, struct dual x)
{
    int64_t rows = pass->batch->rows, step = pass->a->logit_rows, sequence = 0;
    double loss = 0;

    for (int64_t begin = 0; begin < rows; begin += step)
        loss += rows_loss(pass, x, begin, begin + step < rows ? begin + step : rows, &sequence);
    return loss;
}
