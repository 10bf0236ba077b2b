#ifndef NORMSWEEP_MODEL_NETWORK_ACTIVATIONS_H
#define NORMSWEEP_MODEL_NETWORK_ACTIVATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/network/sublayer.h"
#include "model/network/weights.h"

/*
 * The activations of a transformer, their gradients, and the threads' scratch. Rows are the packed tokens of
 * all sequences.
 */

/* A list of sub-layers, in the order of the forward pass. */
struct block {
    int64_t sublayers;
    struct sublayer *sublayer; /* [sublayers] */
};

struct activations {
    struct team team;
    scalar *embedded; /* [rows, C] x0 */
    struct block *block; /* [L] */
    scalar *final, *final_mean, *final_scale; /* [rows, C], [rows], [rows] of the final norm; only pre */
    int64_t logit_rows;
    scalar *logits; /* [logit_rows, V] of one block of rows */
    double *loss; /* [logit_rows] if the caller does not want the losses of rows */
    scalar *share; /* [logit_rows] weight of each row in the loss of the batch */
    scalar *dstream; /* [rows, C] gradient of the residual stream */
    scalar *dnorm; /* [rows, C] */
    scalar *dscaled; /* [rows, C] dnorm itself, or a plane of its own if the model takes tangents */
    scalar *dmixed; /* [rows, C] */
    scalar *dqkv; /* [rows, 3C] */
    scalar *dhidden; /* [rows, F] */
    scalar *dgate; /* [rows, F] if the feed-forward layers are gated */
    scalar *dgated; /* [rows, F] dhidden itself, or a plane of its own if the model takes tangents */
    /* The tangents of embedded, final, logits and all the gradients; those of the blocks are in their
     * sub-layers. NULL if the model takes none. */
    struct activations *tangent;
};

/* Takes everything, including the struct itself, from the arena; NULL while counting. */
struct activations *activations_layout(const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena);

#endif
