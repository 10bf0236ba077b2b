#ifndef NORMSWEEP_MODEL_LAYERS_EMBEDDING_H
#define NORMSWEEP_MODEL_LAYERS_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* The sum of the embeddings of token and position, and the gradients of both. */
struct embedding {
    const struct team *team;
    const scalar *token, *position; /* [V, C], [T, C] */
    scalar *dtoken, *dposition;
    int64_t vocabulary, context, width; /* V, T, C */
    bool add; /* add to dtoken, as a tied output layer has already written its gradient there */
};

/* out [rows, C] of the batch's tokens. */
void embedding_forward(const struct embedding *embedding, scalar *out, const struct batch *batch);

/* dtoken and dposition from dout [rows, C]. Overwrites both, but adds to dtoken if `add`. Does nothing if
 * dtoken is NULL. Linear in its input: tangents pass through the same two functions. */
void embedding_gradient(const struct embedding *embedding, const scalar *dout, const struct batch *batch);

#endif
