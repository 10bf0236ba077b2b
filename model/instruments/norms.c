/*
 * Norms of a network that is read part by part, so that it need not fit into memory: norms_add for each block
 * and for what lies outside them, then norms_end. outside_measure serves measure_state (instruments.c), too,
 * so that both mean the same. norms_add returns the first tensor that has a weight which is not finite, for
 * the caller's error.
 */
#include "model/instruments/inside.h"

void norms_layout(struct norms *norms, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena)
{
    size_t blocks = (size_t)architecture_blocks(architecture);

    *norms = (struct norms){
        .layer_norm = arena_take(arena, blocks, sizeof(double)),
        .tensor_norm = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .layout = layout,
        .kernels = kernels_best(PRECISION_FLOAT),
        .blocks = (int64_t)blocks,
        .stacks = architecture_stacks(architecture),
    };
    for (int64_t stack = 0; stack < norms->stacks; stack++)
        norms->end[stack] = architecture_stack(architecture, stack).end;
}

/* Sets the sum of squares of a tensor. Is every weight finite? The sum may be infinite even so. */
static bool square_of(
    const struct kernels *kernels, const scalar *weights, const struct tensor *tensor, double *square)
{
    const scalar *at = weights + tensor->offset;
    bool finite = true;

    *square = kernels->dot(at, at, tensor->size);
    for (int64_t i = 0; !isfinite(*square) && finite && i < tensor->size; i++)
        finite = isfinite(at[i]);
    return finite;
}

const struct tensor *outside_measure(struct outside *outside, const struct weight_layout *layout,
    const struct kernels *kernels, const scalar *weights)
{
    double *sums[] = {[PART_EMBEDDING] = &outside->embedding,
        [PART_OUTPUT] = &outside->output,
        [PART_FINAL] = &outside->final};
    const struct tensor *broken = NULL;

    *outside = (struct outside){0};
    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        double square;
        if (tensor->layer >= 0)
            continue;
        if (!square_of(kernels, weights, tensor, &square) && !broken)
            broken = tensor;
        *sums[tensor_table[tensor->kind].part] += square;
    }
    return broken;
}

const struct tensor *norms_add(struct norms *norms, const scalar *weights, int64_t layer)
{
    double sum = 0, square;

    if (layer < 0)
        return outside_measure(&norms->outside, norms->layout, norms->kernels, weights);
    for (int64_t k = 0; k < LAYER_TENSOR_COUNT; k++) {
        const struct tensor *tensor = layer_tensor(norms->layout, layer * LAYER_TENSOR_COUNT + k);
        if (!square_of(norms->kernels, weights, tensor, &square))
            return tensor;
        norms->tensor_norm[layer * LAYER_TENSOR_COUNT + k] = tensor->size ? sqrt(square) : NAN;
        sum += square;
    }
    norms->layer_norm[layer] = sqrt(sum);
    return NULL;
}

void norms_end(struct norms *norms)
{
    const struct outside *outside = &norms->outside;
    double whole = 0;

    for (int64_t stack = 0, layer = 0; stack < norms->stacks; stack++) {
        double part = 0;
        for (; layer < norms->end[stack]; layer++)
            part += norms->layer_norm[layer] * norms->layer_norm[layer];
        norms->stack_norm[stack] = sqrt(part);
        whole += part;
    }
    norms->param_norm = sqrt(whole);
    norms->total_norm = sqrt(whole + (outside->embedding + outside->output + outside->final));
    norms->embedding_norm = sqrt(outside->embedding);
    norms->output_norm = sqrt(outside->output);
}
