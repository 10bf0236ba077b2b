#ifndef NORMSWEEP_MODEL_INSTRUMENTS_LYAPUNOV_H
#define NORMSWEEP_MODEL_INSTRUMENTS_LYAPUNOV_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"

/*
 * Lyapunov exponents of the residual stream through depth. A tangent is one of the whole state of a sequence,
 * T x C numbers, since attention couples its tokens. Orthonormal tangents V pass through the blocks one after
 * the other: W = J_l V, W = Q R, and Q is the V of the next block; exponent i is 1/L sum over the blocks of
 * ln R_ii. The sum of the first k of them is the growth of k-dimensional volumes per block; that of all T C
 * is ln|det J| / L, J being the Jacobian of all blocks together.
 *
 * A random V needs more blocks than a network has to turn into the directions that grow most. Each sweep
 * turns it once before the measurement, by a pass forward through the Jacobians and one back through their
 * transposes: the more sweeps, the nearer are the exponents to ln(singular value of J) / L, the largest
 * first.
 *
 * The angular exponents are those of the directions x/|x| of the tokens, which is all that a norm sees of
 * them: each token's part of a tangent is orthogonal to the token, and is divided by the token's norm before
 * and after the block. A norm of the whole state would take away one direction of T C only. There are
 * T (C - 1) of them. If the state of a token is exactly 0 at some depth, it has no direction, and all are
 * NaN.
 *
 * Where J_l is singular, as under post, the tangents behind its rank depend on those before them. Rounding
 * nearly always leaves something of them: ln R_ii is then about ln of the rounding, and the exponent a number
 * below -10 (float) or -30 (double) in place of minus infinity. Only a tangent that is exactly 0 gives NaN.
 */
struct lyapunov {
    double *exponent, *angular; /* [stacks][wanted], NaN for those beyond the dimension of the state */

    int64_t wanted, sweeps;
    int64_t stack, first, layers; /* under way: the stack, its first block, their number */
    struct transformer *model; /* borrowed, like weights */
    const scalar *weights;
    struct batch batch; /* one sequence */
    uint64_t seed;
    int64_t rows, size, count; /* of a state, its elements; the tangents under way */
    int64_t at, end; /* rounds: done, in total */
    int64_t next; /* tangent of the round under way */
    double *tangent; /* [wanted][rows C] */
    double *sum; /* [wanted] of ln R_ii */
    scalar *state; /* [rows, C] */
};

/* For so many exponents of one sequence of at most `rows` tokens. */
void lyapunov_layout(struct lyapunov *lyapunov, const struct architecture *architecture, int64_t exponents,
    int64_t sweeps, int64_t rows, struct arena *arena);

/*
 * Begins the measurement of one stack on the first sequence of the batch; what cross-attention reads does not
 * change. The model, which has tangents, must keep its pass until the end; model, weights and batch are
 * borrowed until then. The start is a function of the seed.
 */
void lyapunov_begin(struct lyapunov *lyapunov, struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t stack, int64_t seed);

/*
 * Draws one tangent or takes one through one block, which costs that pass and 8 operations for each element
 * of each tangent before it. False: that was the last time, and the exponents are there.
 */
bool lyapunov_advance(struct lyapunov *lyapunov);

#endif
