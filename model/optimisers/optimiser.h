#ifndef NORMSWEEP_MODEL_OPTIMISERS_OPTIMISER_H
#define NORMSWEEP_MODEL_OPTIMISERS_OPTIMISER_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"
#include "model/kernels/team.h"
#include "model/network/transformer.h"

enum optimiser_kind {
    OPTIMISER_ADAMW,
    OPTIMISER_ADAM,
    OPTIMISER_SGD,
    OPTIMISER_NORMALIZED_SGD,
    OPTIMISER_ADAFACTOR
};
enum decay { DECAY_FUSED, DECAY_FACTOR };
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_INVERSE_SQRT };

/* The learning rate over the steps t = 1 .. t_end. */
struct schedule {
    enum schedule_kind kind;
    double learning_rate;
    int64_t start; /* t0 */
    int64_t warmup_steps; /* 0: none */
    int64_t last_step; /* t_end */
};

/* The learning rate of step t = 1 .. t_end. */
double schedule_rate(const struct schedule *schedule, int64_t step);

struct optimiser_options {
    enum optimiser_kind kind;
    enum decay decay; /* adamw: how the decay is rounded */
    double weight_decay, beta1, beta2, epsilon, momentum;
    double gradient_clip; /* largest norm of the gradient; 0: no clipping */
};

/* An optimiser over one weight layout, with its state planes. */
struct optimiser {
    struct optimiser_options options;
    const struct weight_layout *layout; /* borrowed */
    struct team team; /* for element-wise steps; without scratch */
    scalar *first; /* [layout->size] first moment or momentum; NULL for kinds without one */
    scalar *second; /* [layout->size] second moment, or adafactor's factors; NULL for kinds without one */
    scalar *scratch; /* [2 * layout->largest] adafactor: new state and update of one tensor; else NULL */
};

void optimiser_layout(struct optimiser *optimiser, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, struct arena *arena);

/* The number of scalars that plane `second` holds of a tensor, from the tensor's offset on. */
int64_t optimiser_second_size(const struct optimiser *optimiser, const struct tensor *tensor);

/* The factor by which clipping multiplies a whole gradient: min(1, clip / (|g| + 1e-6)), 1 without clipping.
 */
double optimiser_clip(const struct optimiser *optimiser, const scalar *gradient);

/* Takes one step theta += delta: step number t (from 1), learning rate eta, clipping factor `scale`. */
void optimiser_step(struct optimiser *optimiser, scalar *weights, const scalar *gradient, double scale,
    int64_t number, double rate);

/*
 * |u|^2 and theta.u over the tensors in the range [begin, end) of the plane. u is the step that
 * optimiser_step would take from the same state without weight decay, divided by -eta. Changes no state.
 * `weights` and `gradient` are whole planes.
 */
struct sums optimiser_update(const struct optimiser *optimiser, const scalar *weights, const scalar *gradient,
    double scale, int64_t number, int64_t begin, int64_t end);

#endif
