/*
 * From the blocks of a network, counted through all stacks, the encoder's first, to the places of a metric,
 * [stack][layer][...]. A metric over depths has one more in each stack, its input, in front of its blocks: so
 * do the numbers that count them here. Places beyond a stack's own blocks are left as they are.
 */
#include "model/core/check.h"
#include "worker/train/inside.h"

#include <string.h>

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

double *by_stack_place(double *values, enum metric metric, const struct metric_form *form,
    const struct architecture *architecture, int64_t at)
{
    enum metric_dimension dimension = block_dimension(metric);
    int64_t stack = 0, layer = at;

    for (; layer >= count_in(architecture, stack, dimension); stack++)
        layer -= count_in(architecture, stack, dimension);
    INVARIANT(at >= 0 && stack < form->along[DIMENSION_STACK] && layer < form->along[dimension],
        "%s: number %lld of stack %lld", metric_table[metric].name, (long long)layer, (long long)stack);
    return values + (size_t)(stack * form->along[dimension] + layer) * values_of_block(metric, form);
}

void by_stack_put(double *values, enum metric metric, const struct metric_form *form,
    const struct architecture *architecture, const double *from, size_t per)
{
    size_t taken = values_of_block(metric, form);
    int64_t count = 0;

    INVARIANT(taken <= per, "%s: %zu values of %zu", metric_table[metric].name, taken, per);
    for (int64_t stack = 0; stack < architecture_stacks(architecture); stack++)
        count += count_in(architecture, stack, block_dimension(metric));
    for (int64_t at = 0; at < count; at++, from += per)
        memcpy(by_stack_place(values, metric, form, architecture, at), from, taken * sizeof(*from));
}
