#ifndef NORMSWEEP_MODEL_OPTIMISERS_ROUNDING_H
#define NORMSWEEP_MODEL_OPTIMISERS_ROUNDING_H

#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* How weights are kept between steps; moments and gradients are always scalars. A weight in bfloat16 is a
 * scalar whose value is a float with lower 16 bits of 0. */
enum weights_kept {
    WEIGHTS_FLOAT, /* as scalars */
    WEIGHTS_BFLOAT16, /* rounded to the nearest, ties to even */
    WEIGHTS_BFLOAT16_STOCHASTIC, /* rounded up or down by chance, so that their mean is right */
};

/* Rounds the initial weights: to the nearest, by chance or not, so that both start alike. */
void rounding_begin(enum weights_kept kept, const struct team *team, scalar *weights, int64_t count);

/* Rounds what step `number` of a run with this seed has made of the weights: a function of these alone,
 * whatever the threads. */
void rounding_step(enum weights_kept kept, const struct team *team, scalar *weights, int64_t count,
    uint64_t seed, int64_t number);

#endif
