#ifndef NORMSWEEP_MODEL_INSTRUMENTS_NORMS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_NORMS_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/weights.h"

/* What lies outside the blocks. */
struct outside {
    double embedding, output, final; /* sums of squares of the tensors of these parts, in double */
};

/*
 * The norms of a network that is there part by part, defined as those of measure_state:
 *     norms_add for each part, in any order; norms_end
 * All sums are double.
 */
struct norms {
    double param_norm, embedding_norm, output_norm, total_norm;
    double stack_norm[STACKS_MOST];
    double *layer_norm; /* [blocks] */
    double *tensor_norm; /* [blocks][LAYER_TENSOR_COUNT], NaN for absent tensors */

    const struct weight_layout *layout; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, stacks;
    int64_t end[STACKS_MOST]; /* the block behind each stack's last one */
    struct outside outside;
};

void norms_layout(struct norms *norms, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena);

/*
 * Adds block `layer`, or with layer -1 what lies outside the blocks, of a plane of weights. Returns the first
 * tensor with a weight that is not finite, or NULL.
 */
const struct tensor *norms_add(struct norms *norms, const scalar *weights, int64_t layer);

void norms_end(struct norms *norms);

/* Fills in the sums outside the layers, from a plane of weights. Returns the first tensor with a weight that
 * is not finite, or NULL. */
const struct tensor *outside_measure(struct outside *outside, const struct weight_layout *layout,
    const struct kernels *kernels, const scalar *weights);

#endif
