#ifndef NORMSWEEP_MODEL_LAYERS_DISTANCE_H
#define NORMSWEEP_MODEL_LAYERS_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/scalar.h"
#include "model/kernels/team.h"
#include "model/layers/attention.h"

/*
 * Multi-head attention of packed sequences to themselves with keys of distances (Dai et al. 2019, Yang et al.
 * 2019). The score of query i and key j is
 *     scale ((q_i + content bias) . k_j + (q_i + distance bias) . r(i - j)),
 * where r(d) is a linear layer's output for the sinusoid of the distance d. Each query sees every key of its
 * sequence. Forward only.
 */
struct distances {
    const struct team *team; /* scratch: distances_scratch() */
    int64_t heads, kv_heads, depth; /* as in struct heads */
    scalar scale; /* > 0 */
    bool hard; /* see struct head */
    int64_t sequences;
    const int64_t *start; /* [sequences + 1] */
    int64_t reach; /* the largest distance, context - 1 */
    /* [2 reach + 1, H D]: row c is r(reach - c). Only distances within the longest sequence are read. */
    const scalar *keys;
};

/* Queries, keys and values of each row. */
struct distances_in {
    struct projected projected; /* the queries have their content bias */
    scalar *q; /* [rows, H D] the queries with their distance bias */
};

/*
 * Fills table [2 context - 1, width], width even, with the sinusoids of distances: row c is that of the
 * distance d = context - 1 - c: sin(d w_k) for all k < width / 2, then cos(d w_k), where w_k = 10000^(-2k /
 * width). Computed in double and rounded once.
 */
void distances_fill(scalar *table, int64_t context, int64_t width);

/* Scalars of scratch per thread for sequences of up to `context` rows. */
int64_t distances_scratch(int64_t context);

/* Adds the biases [H D] to queries without bias, which in->projected.q [rows, H D] holds. */
void distances_bias(const struct distances *distances, const struct distances_in *in,
    const scalar *content_bias, const scalar *distance_bias);

/* mixed [rows, H D] */
void distances_forward(const struct distances *distances, scalar *mixed, const struct distances_in *in);

/* count [H, rows], as heads_attended gives it. */
void distances_attended(const struct distances *distances, int32_t *count, const struct distances_in *in);

#endif
