/*
 * The values of one measured step. Training and `inspect` put in what instruments have measured; instruments
 * number the blocks of a network through all stacks, the encoder's first, while a metric's values lie as
 * [stack][layer][...], as long as the longest stack. A metric over depths has one more in each stack, its
 * input, in front of its blocks: so do the numbers that count them here. What lies beyond a stack's own
 * blocks is left as it is.
 */
#include <string.h>

#include "model/core/check.h"
#include "worker/train/train.h"

double *measured_values(const struct measured *measured, enum metric metric)
{
    return measured->values + measured->form->offset[metric];
}

void measured_put(const struct measured *measured, enum metric metric, const double *values)
{
    memcpy(
        measured_values(measured, metric), values, metric_values(metric, measured->form) * sizeof(*values));
}

/* The dimension of blocks: layers, or depths. It comes behind that of the stacks. */
static enum metric_dimension block_dimension(enum metric metric)
{
    const struct metric_shape_row *shape = &metric_shape_table[metric_table[metric].shape];

    INVARIANT(shape->rank >= 3 && shape->dimension[1] == DIMENSION_STACK &&
                  (shape->dimension[2] == DIMENSION_LAYER || shape->dimension[2] == DIMENSION_DEPTH),
        "%s is not measured block by block", metric_table[metric].name);
    return shape->dimension[2];
}

/* The number of values of each block. */
static size_t values_of_block(enum metric metric, const struct metric_form *form)
{
    int64_t blocks = form->along[DIMENSION_STACK] * form->along[block_dimension(metric)];

    return metric_values(metric, form) / (size_t)blocks;
}

/* The number of blocks of a stack; of its depths, one more. */
static int64_t count_in(
    const struct architecture *architecture, int64_t stack, enum metric_dimension dimension)
{
    const struct stack_form form = architecture_stack(architecture, stack);

    return form.end - form.begin + (dimension == DIMENSION_DEPTH);
}

double *measured_block(const struct measured *measured, enum metric metric, int64_t at)
{
    const struct metric_form *form = measured->form;
    enum metric_dimension dimension = block_dimension(metric);
    int64_t stack = 0, layer = at;

    for (; layer >= count_in(measured->architecture, stack, dimension); stack++)
        layer -= count_in(measured->architecture, stack, dimension);
    INVARIANT(at >= 0 && stack < form->along[DIMENSION_STACK] && layer < form->along[dimension],
        "%s: number %lld of stack %lld", metric_table[metric].name, (long long)layer, (long long)stack);
    return measured_values(measured, metric) +
           (size_t)(stack * form->along[dimension] + layer) * values_of_block(metric, form);
}

void measured_put_blocks(
    const struct measured *measured, enum metric metric, const double *values, size_t per)
{
    size_t taken = values_of_block(metric, measured->form);
    int64_t count = 0;

    INVARIANT(taken <= per, "%s: %zu values of %zu", metric_table[metric].name, taken, per);
    for (int64_t stack = 0; stack < architecture_stacks(measured->architecture); stack++)
        count += count_in(measured->architecture, stack, block_dimension(metric));
    for (int64_t at = 0; at < count; at++, values += per)
        memcpy(measured_block(measured, metric, at), values, taken * sizeof(*values));
}

void measured_put_saturation(const struct measured *measured, const struct saturation *s)
{
    size_t heads = (size_t)s->heads;

    if (s->soft_wanted) {
        measured_put_blocks(measured, METRIC_saturation, s->soft, 1);
        measured_put_blocks(measured, METRIC_hard_saturation, s->hard, 1);
        measured_put(measured, METRIC_saturation_final, s->soft + s->blocks);
        measured_put(measured, METRIC_hard_saturation_final, s->hard + s->blocks);
    }
    if (s->heads_wanted) {
        measured_put_blocks(measured, METRIC_positions_attended, s->attended, heads);
        measured_put_blocks(measured, METRIC_fraction_attended, s->fraction, heads);
        measured_put_blocks(measured, METRIC_share_above_one, s->above_one, heads);
        measured_put_blocks(measured, METRIC_attended_histogram, s->histogram, heads * (size_t)s->bins);
        measured_put(measured, METRIC_heads_histogram, s->heads_histogram);
    }
}

void measured_put_attention(const struct measured *measured, const struct attending *a)
{
    size_t heads = (size_t)a->heads;

    measured_put_blocks(measured, METRIC_max_logit, a->max_logit, heads);
    measured_put_blocks(measured, METRIC_attention_entropy, a->entropy, heads);
    measured_put_blocks(measured, METRIC_first_attention, a->first, heads);
    measured_put(measured, METRIC_sink_share, a->sink_share);
    measured_put_blocks(measured, METRIC_activation_rms, a->rms, 1);
    measured_put_blocks(measured, METRIC_activation_max, a->largest, 1);
}
