#ifndef NORMSWEEP_MODEL_LAYERS_ROTARY_H
#define NORMSWEEP_MODEL_LAYERS_ROTARY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/*
 * Rotary positions (Su et al. 2021), in halves: element i of the first half of a head and element i of its
 * second half turn together by the angle position * base^(-2i/D). The product of a turned query and a turned
 * key depends on the distance of their positions alone.
 */
struct rotary {
    const struct team *team;
    const scalar *cosine, *sine; /* [context, D / 2] */
    int64_t depth; /* D, even */
};

/*
 * How a network that was trained on short texts reads longer ones. With n(f) = context f / (2 pi), the turns
 * of frequency f in the context of that training: frequencies with n < low are divided by `factor`, those
 * with n > high are kept, with a ramp in n between them (Llama 3.1). low = high = 0: all are divided.
 */
struct rotary_scaling {
    double factor; /* 0: no scaling */
    double low, high, context;
};

/* The angles of `base`, scaled, into cosine and sine [context, depth / 2]; computed in double and rounded
 * once.
 */
void rotary_fill(scalar *cosine, scalar *sine, int64_t context, int64_t depth, double base,
    const struct rotary_scaling *scaling);

/*
 * Turns `heads` heads of D, side by side at the beginning of each row of x, rows `stride` apart, in place, by
 * the angles of the row's position in its sequence; `back`: by the opposite angles, which is also the
 * gradient. Linear in x: tangents pass through the same function.
 */
void rotary_turn(const struct rotary *rotary, scalar *x, int64_t stride, int64_t heads, int64_t sequences,
    const int64_t *start, bool back);

#endif
