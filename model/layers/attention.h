#ifndef NORMSWEEP_MODEL_LAYERS_ATTENTION_H
#define NORMSWEEP_MODEL_LAYERS_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/layers/dual.h"
#include "model/layers/relative.h"

/*
 * Multi-head attention over packed sequences: sequence i of the queries attends to sequence i of the keys,
 * which are the same sequences in self-attention and others in cross-attention. Scores are scale q.k, plus
 * the bias of their distance; see enum attention_mask. Attention weights are not kept: the gradient computes
 * them again, which costs little and saves B H T^2 scalars per layer.
 */
struct heads {
    const struct team *team; /* scratch: heads_scratch() */
    /* H, K, D. K divides H: head h reads the keys and values of head h / (H / K) (Ainslie et al. 2023) */
    int64_t heads, kv_heads, depth;
    scalar scale; /* > 0 */
    enum attention_mask mask;
    bool hard; /* see struct head; only in the forward pass */
    int64_t sequences;
    const int64_t *start, *key_start; /* [sequences + 1] of the queries, of the keys and values */
    /* [H, rows of queries] statistics of the softmax: the forward pass sets them for the gradient */
    scalar *most, *inverse;
    const struct relative *relative; /* only in self-attention; NULL: no bias */
};

/* Queries [rows, H D] and keys, values [key rows, K D], heads side by side, or their gradients; the strides
 * are those from row to row. */
struct projected {
    scalar *q, *k, *v;
    int64_t q_stride, kv_stride;
};

/* Self-attention's, side by side in qkv [rows, width + 2 key_width], with width = H D and key_width = K D. */
static inline struct projected projected_together(scalar *qkv, int64_t width, int64_t key_width)
{
    int64_t stride = width + 2 * key_width;

    return (struct projected){qkv, qkv + width, qkv + width + key_width, stride, stride};
}

/* 1 / sqrt(D) */
scalar heads_scale(int64_t depth);

/* Scalars of scratch per thread that attention of up to `context` queries and keys needs; with its tangents.
 */
int64_t heads_scratch(int64_t heads, int64_t depth, int64_t context, bool relative, bool tangents);

/* mixed [rows, H D] from the projected, which it does not write. */
void heads_forward(const struct heads *heads, scalar *mixed, const struct projected *in);

/*
 * count [H, rows] = how many attention weights of each query are above 1e-5, -1 where they are NaN. Writes
 * most and inverse.
 */
void heads_attended(const struct heads *heads, int32_t *count, const struct projected *in);

/* Overwrites din, with the strides of `in`, from dmixed [rows, H D]; adds to relative->dbias. */
void heads_gradient(
    const struct heads *heads, const struct projected *din, const scalar *dmixed, const struct projected *in);

/* After the forward pass: the tangent of mixed from that of the projected, tin, with the strides of `in`, and
 * from relative->tbias. */
void heads_tangent(
    const struct heads *heads, scalar *tmixed, const struct projected *in, const struct projected *tin);

/* The tangents of what heads_gradient computes, from dmixed and its tangent; adds to relative->tdbias. */
void heads_gradient_tangent(const struct heads *heads, const struct projected *tdin, struct dual dmixed,
    const struct projected *in, const struct projected *tin);

#endif
