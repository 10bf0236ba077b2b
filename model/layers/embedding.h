#ifndef NORMSWEEP_MODEL_LAYERS_EMBEDDING_H
#define NORMSWEEP_MODEL_LAYERS_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/kernels/team.h"

/* The sum of the embeddings of token and position, and the gradients of both; forward only, also of a type.
 */
struct embedding {
    const struct team *team;
    const scalar *token; /* [V, C] */
    const scalar *position; /* [T, C], learned or fixed; NULL: none */
    const scalar *type; /* [C] of every token; NULL: none */
    scalar *dtoken, *dposition; /* dposition NULL: no positions, or fixed ones */
    int64_t vocabulary, context, width; /* V, T, C */
    bool add; /* add to dtoken, where a tied output layer or another embedding has written its gradient */
};

/* out [rows, C] of the tokens. */
void embedding_forward(const struct embedding *embedding, scalar *out, const struct packed *packed);

/* dtoken and dposition from dout [rows, C]. Overwrites both, but adds to dtoken if `add`. Does nothing if
 * dtoken is NULL. Linear in its input: tangents pass through the same two functions. */
void embedding_gradient(const struct embedding *embedding, const scalar *dout, const struct packed *packed);

/*
 * Fills table [context, width] with the positions of Vaswani et al. 2017: sin(t / 10000^(2i / width)) at
 * element 2i of row t, the cosine at element 2i + 1. Computed in double and rounded once.
 */
void sinusoidal_fill(scalar *table, int64_t context, int64_t width);

#endif
