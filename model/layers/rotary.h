#ifndef NORMSWEEP_MODEL_LAYERS_ROTARY_H
#define NORMSWEEP_MODEL_LAYERS_ROTARY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/*
 * Rotary positions (Su et al. 2021), in halves: element i of the first half of a head and element i of its
 * second half turn together by the angle position * 10000^(-2i/D). The product of a turned query and a turned
 * key depends on the distance of their positions alone.
 */
struct rotary {
    const struct team *team;
    const scalar *cosine, *sine; /* [context, D / 2] */
    int64_t depth; /* D, even */
};

/* cosine and sine [context, depth / 2], computed in double and rounded once. */
void rotary_fill(scalar *cosine, scalar *sine, int64_t context, int64_t depth);

/*
 * Turns `heads` heads of D, side by side at the beginning of each row of x, rows `stride` apart, in place, by
 * the angles of the row's position in its sequence; `back`: by the opposite angles, which is also the
 * gradient. Linear in x: tangents pass through the same function.
 */
void rotary_turn(const struct rotary *rotary, scalar *x, int64_t stride, int64_t heads, int64_t sequences,
    const int64_t *start, bool back);

#endif
