#ifndef NORMSWEEP_MODEL_INSTRUMENTS_GRADIENTS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_GRADIENTS_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/weights.h"

struct kernels;

/*
 * The gradient of the loss over several minibatches at one theta, for each kind of tensor of each layer: the
 * norm of its mean, "expected gradient" in Xiong and others, "On Layer Normalization in the Transformer
 * Architecture" (ICML 2020), and how that norm changes from layer to layer:
 *     gradients_begin, gradients_add for each minibatch, gradients_end
 */
struct gradients {
    /*
     * [blocks][LAYER_TENSOR_COUNT] the norm of the mean gradient, and the mean of the norms of the
     * minibatches' own gradients; NaN for absent tensors.
     */
    double *mean_norm, *batch_norm;
    /*
     * [stacks][LAYER_TENSOR_COUNT] slope of ln mean_norm over the layers of a stack, per layer from its input
     * on, and its standard error. NaN for fewer than STRAIGHT_POINTS layers, or if a norm is 0 or not finite.
     */
    double *slope, *slope_error;

    const struct weight_layout *layout; /* borrowed */
    const struct architecture *architecture; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, count; /* minibatches added */
    scalar *sum; /* [layers_end - layers_begin] of their gradients */
    double *depth, *logarithm; /* [blocks] of the fits */
};

void gradients_layout(struct gradients *gradients, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena);

/* Forgets all minibatches. */
void gradients_begin(struct gradients *gradients);

/* Adds the gradient of a minibatch, a plane. */
void gradients_add(struct gradients *gradients, const scalar *gradient);

/* Turns sums into means and fits the slopes; at least one minibatch was added. */
void gradients_end(struct gradients *gradients);

/*
 * The slope that Xiong and others derive for a fresh model in their setting: xavier, queries and keys 0,
 * layernorm, relu without a gate, a feed-forward layer as wide as the model, both scales 1, and one stack.
 * After the sum, each layernorm behind a feed-forward layer divides the gradient on its way to the input by
 * sqrt(3/2); before it, all layers have alike ones. Theirs are the matrices w2; NaN elsewhere.
 */
double gradients_theory(const struct architecture *architecture, enum tensor_kind kind);

#endif
