#ifndef NORMSWEEP_MODEL_LAYERS_ATTENTION_H
#define NORMSWEEP_MODEL_LAYERS_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"

/*
 * Multi-head attention over packed sequences. Scores are q.k/sqrt(D). The causal mask hides later positions;
 * the multiplicative mask multiplies their scores by 0, so that they take part (Merrill et al. 2021,
 * published code). Attention weights are not kept: the gradient computes them again, which costs little and
 * saves B H T^2 scalars per layer.
 */
struct heads {
    const struct team *team;
    int64_t heads, width; /* H divides C; D = C / H */
    bool multiplicative;
    bool hard; /* see struct head; only in the forward pass */
    int64_t sequences;
    const int64_t *start; /* [sequences + 1] */
    scalar *most,
        *inverse; /* [H, rows] statistics of the softmax: the forward pass sets them for the gradient */
};

/* mixed [rows, C] from qkv [rows, 3C]: queries, keys, values side by side, heads side by side within each. */
void heads_forward(const struct heads *heads, scalar *mixed, const scalar *qkv);

/*
 * count [H, rows] = how many attention weights of each row are above 1e-5, -1 where they are NaN. Writes most
 * and inverse.
 */
void heads_attended(const struct heads *heads, int32_t *count, const scalar *qkv);

/* Overwrites dqkv [rows, 3C]. */
void heads_gradient(const struct heads *heads, scalar *dqkv, const scalar *dmixed, const scalar *qkv);

#endif
