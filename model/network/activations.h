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

/* What lies before and behind the blocks of a stack; the same planes hold values or their tangents. */
struct stack {
    struct stack_form form;
    scalar *embedded; /* [rows, C] x0 */
    scalar *summed, *summed_mean, *summed_scale; /* [rows, C], [rows], [rows] before the embeddings' norm */
    scalar *final, *final_mean, *final_scale; /* [rows, C], [rows], [rows] of the final norm; only pre */
    /* [H, stride] the bias of scores by distance, and its gradient; only relative positions */
    scalar *relative, *drelative;
};

struct activations {
    struct team team;
    int64_t stacks;
    struct stack stack[STACKS_MOST];
    struct block *block; /* of all stacks */
    scalar *sinusoid; /* [T, C] sinusoidal positions */
    scalar *distances; /* [2T - 1, C] the sinusoids of distances, T - 1 first */
    scalar *cosine, *sine; /* [T, D/2] of the angles of rotary positions */
    int64_t *chosen; /* [rows] the rows with a target */
    int64_t logit_rows;
    scalar *logits; /* [logit_rows, V] of one block of rows */
    scalar *gathered, *dgathered; /* [logit_rows, C] rows with a target, if some have none */
    scalar *headed[2]; /* [logit_rows, C] between these rows and the output matrix, see output.c; or NULL */
    scalar *headed_mean, *headed_scale; /* [logit_rows] of the transform's norm */
    int32_t *target, *predicted; /* [logit_rows] of the rows of the block */
    double *loss, *weight; /* [logit_rows] the losses of the rows, and their weights in that of the batch */
    double *log_sum; /* [logit_rows] the logarithms of the sums of exp(logits) */
    scalar *share; /* [logit_rows] the weights, rounded */
    scalar *dstream; /* [rows, C] gradient of the residual stream */
    scalar *dmemory; /* [rows, C] that of the encoder's output, if cross-attention reads it */
    scalar *dnorm; /* [rows, C] */
    scalar *dscaled; /* [rows, C] dnorm itself, or a plane of its own if the model takes tangents */
    scalar *dmixed; /* [rows, H D] */
    scalar *dprojected; /* [rows, H D + 2 K] of queries, keys and values */
    scalar *dnormed; /* [rows, H D + K] of normed queries and keys, if they have a norm */
    scalar *dhidden; /* [rows, F] */
    scalar *dgate; /* [rows, F] if the feed-forward layers are gated */
    scalar *dgated; /* [rows, F] dhidden itself, or a plane of its own if the model takes tangents */
    /* The tangents of the planes of stacks, logits, gathered rows and all the gradients; those of the blocks
     * are in their sub-layers. NULL if the model takes none. */
    struct activations *tangent;
};

/* Takes everything, including the struct itself, from the arena; NULL while counting. */
struct activations *activations_layout(const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena);

/* The same for passes that go block by block, without gradients: all blocks share their planes. */
struct activations *activations_layout_shared(
    const struct architecture *architecture, int64_t max_rows, int64_t threads, struct arena *arena);

#endif
