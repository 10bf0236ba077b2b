#ifndef NORMSWEEP_MODEL_LAYERS_ACTIVATIONS_H
#define NORMSWEEP_MODEL_LAYERS_ACTIVATIONS_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/network/weights.h"

/*
 * What the passes of a transformer keep: its activations, their gradients and the threads' scratch. Rows are
 * the tokens of all sequences, packed.
 */

/*
 * What the gradient needs of one sub-layer. `norm` holds LN's output under pre and LN's input under post and
 * out; the other end of LN is `in` or `out`.
 */
struct sublayer {
    scalar *norm; /* [rows, C] */
    scalar *mean, *scale; /* [rows] of LN */
    scalar *out; /* [rows, C] the residual stream behind it */
};

struct block {
    struct sublayer attention, feedforward;
    scalar *qkv; /* [rows, 3C] queries, keys, values */
    scalar *mixed; /* [rows, C] the heads' outputs, before the output projection */
    scalar *hidden; /* [rows, F] behind the activation */
    scalar *slope; /* [rows, F] what is before it, then its derivative there; relu needs none */
    scalar *most, *inverse; /* [H, rows] of attention */
};

struct activations {
    struct team team;
    scalar *embedded; /* [rows, C] x0 */
    struct block *block; /* [L] */
    scalar *final, *final_mean, *final_scale; /* final LN: [rows, C], [rows], [rows]; pre alone */
    int64_t logit_rows;
    scalar *logits; /* [logit_rows, V] one block of rows at a time */
    double *loss; /* [logit_rows] of each of them, where no one else has room for it */
    scalar *share; /* [logit_rows] what each counts in the loss of the batch */
    scalar *dstream; /* [rows, C] gradient of the residual stream */
    scalar *dnorm; /* [rows, C] */
    scalar *dmixed; /* [rows, C] */
    scalar *dqkv; /* [rows, 3C] */
    scalar *dhidden; /* [rows, F] */
};

/* All of it from the arena, the struct itself too; NULL while counting. */
struct activations *activations_layout(
    const struct architecture *architecture, int64_t max_rows, int64_t threads, struct arena *arena);

#endif
