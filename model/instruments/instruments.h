#ifndef NORMSWEEP_MODEL_INSTRUMENTS_INSTRUMENTS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_INSTRUMENTS_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"
#include "model/optimisers/optimiser.h"

/*
 * Measurements on a model: norms and directions of theta_t, and the step delta_t = theta_{t+1} - theta_t.
 * Unless said otherwise, theta holds the tensors of the layers, without embeddings,
 * output and a final LayerNorm. All sums are double.
 */
struct instruments {
    /* What measure_state, measure_gradient and measure_step say of each block; the encoder's come first. */
    double *layer_norm, *layer_direction_cosine; /* [blocks] */
    double *tensor_norm; /* [blocks][LAYER_TENSOR_COUNT], NaN for absent tensors */
    double *layer_gradient_alignment, *layer_step_size, *layer_alignment; /* [blocks] */
    /* [blocks][LAYER_TENSOR_COUNT], NaN for absent tensors and where there is none. The last two are set by
     * measure_equilibrium. */
    double *tensor_rms, *rotation, *rotation_equilibrium, *rms_equilibrium;

    const struct weight_layout *layout; /* borrowed */
    const struct kernels *kernels;
    int64_t blocks, stacks;
    int64_t end[STACKS_MOST]; /* the block behind each stack's last one */
    scalar *kept; /* [layers_end - layers_begin] theta at the last measured step */
    double kept_square; /* |kept|^2; NaN before the first measured step */
    double *layer_square; /* [blocks] of kept */
};

void instruments_layout(struct instruments *instruments, const struct weight_layout *layout,
    const struct architecture *architecture, struct arena *arena);

/* Of theta_t, and of the part of theta_t that each stack has. The cosines are NaN at the first measured step.
 */
struct state_measures {
    double param_norm, embedding_norm, output_norm, total_norm;
    double direction_cosine;
    double stack_norm[STACKS_MOST], stack_direction_cosine[STACKS_MOST];
};

/* Measures theta_t and keeps it for measure_step and for the next call. */
void measure_state(struct instruments *instruments, const scalar *weights, struct state_measures *measures);

/* |theta_t| alone; keeps nothing. */
double measure_norm(const struct instruments *instruments, const scalar *weights);

/* Of the step from theta_t. */
struct step_measures {
    double grad_norm, gradient_alignment;
    double update_norm, update_alignment, update_alignment_null;
    double step_size, alignment, balance_error;
};

/* Before step number `step`: measures the gradient of its batch, and the update u. Call it after
 * measure_state of the same theta_t. */
void measure_gradient(struct instruments *instruments, const struct optimiser *optimiser,
    const scalar *weights, const scalar *gradient, double clip, int64_t step, double rate,
    struct step_measures *measures);

/*
 * How far the step reaches: sum |theta_T| |u_T| over the tensors T, over what it is in full steps (struct
 * stride in optimiser.h). An update adds at most 2 eta sum |theta_T| |u_T| to |theta|^2, to first order in
 * eta. 0: it stands still; NaN if theta is 0. Call it after measure_state of the same theta_t.
 */
double measure_reach(const struct instruments *instruments, const struct optimiser *optimiser,
    const scalar *weights, const scalar *gradient, double clip, int64_t step, double rate);

/* The balance of each tensor at this rate. */
void measure_equilibrium(struct instruments *instruments, const struct optimiser *optimiser, double rate);

/* After a step: measures delta_t from the theta_t that measure_state kept. */
void measure_step(struct instruments *instruments, const scalar *weights, struct step_measures *measures);

#endif
