#include "model/instruments/norms.h"

#include <math.h>

#include "model/kernels/levels.h"

void norms_layout(struct norms *norms, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena)
{
    size_t blocks = (size_t)architecture_blocks(architecture);

    *norms = (struct norms){
        .layer_norm = arena_take(arena, blocks, sizeof(double)),
        .tensor_norm = arena_take(arena, blocks * LAYER_TENSOR_COUNT, sizeof(double)),
        .layout = layout,
        .kernels = kernels_best(),
        .blocks = (int64_t)blocks,
        .stacks = architecture_stacks(architecture),
    };
    for (int64_t stack = 0; stack < norms->stacks; stack++)
        norms->end[stack] = architecture_stack(architecture, stack).end;
}

void norms_begin(struct norms *norms)
{
    norms->embedding_norm = norms->output_norm = norms->outside = 0;
}

/* Sets the sum of squares of a tensor. Is every weight finite? A sum that is not may come from weights that
 * are. */
static bool square_of(
    const struct norms *norms, const scalar *weights, const struct tensor *tensor, double *square)
{
    const scalar *at = weights + tensor->offset;
    bool finite = true;

    *square = norms->kernels->dot(at, at, tensor->size);
    for (int64_t i = 0; !isfinite(*square) && finite && i < tensor->size; i++)
        finite = isfinite(at[i]);
    return finite;
}

static const struct tensor *add_outside(struct norms *norms, const scalar *weights)
{
    for (int64_t i = 0; i < norms->layout->tensor_count; i++) {
        const struct tensor *tensor = &norms->layout->tensor[i];
        double square;
        if (tensor->layer >= 0)
            continue;
        if (!square_of(norms, weights, tensor, &square))
            return tensor;
        norms->outside += square;
        if (tensor_table[tensor->kind].part == PART_EMBEDDING)
            norms->embedding_norm += square;
        if (tensor_table[tensor->kind].part == PART_OUTPUT)
            norms->output_norm += square;
    }
    return NULL;
}

const struct tensor *norms_add(struct norms *norms, const scalar *weights, int64_t layer)
{
    double sum = 0, square;

    if (layer < 0)
        return add_outside(norms, weights);
    for (int64_t k = 0; k < LAYER_TENSOR_COUNT; k++) {
        const struct tensor *tensor =
            &norms->layout->tensor[LAYER_TENSOR_FIRST + layer * LAYER_TENSOR_COUNT + k];
        if (!square_of(norms, weights, tensor, &square))
            return tensor;
        norms->tensor_norm[layer * LAYER_TENSOR_COUNT + k] = tensor->size ? sqrt(square) : NAN;
        sum += square;
    }
    norms->layer_norm[layer] = sqrt(sum);
    return NULL;
}

void norms_end(struct norms *norms)
{
    double whole = 0;

    for (int64_t stack = 0, layer = 0; stack < norms->stacks; stack++) {
        double part = 0;
        for (; layer < norms->end[stack]; layer++)
            part += norms->layer_norm[layer] * norms->layer_norm[layer];
        norms->stack_norm[stack] = sqrt(part);
        whole += part;
    }
    norms->param_norm = sqrt(whole);
    norms->total_norm = sqrt(whole + norms->outside);
    norms->embedding_norm = sqrt(norms->embedding_norm);
    norms->output_norm = sqrt(norms->output_norm);
}
