#ifndef NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H
#define NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"

/*
 * A model f(x; theta) beside its saturated network, the limit of f(x; c theta) as c grows: every parameter
 * times SATURATION_SCALE, embeddings, biases and output too, LayerNorm's epsilon unchanged. Measured over
 * batches, each of whose rows (tokens) counts alike:
 *     saturation_begin, saturation_add for each batch, saturation_end
 */
enum { SATURATION_SCALE = 1000 };

struct saturation {
    int64_t layers, heads, bins;
    bool soft_wanted, heads_wanted; /* the cosines; what the heads attend to */

    /*
     * [layers + 1] mean over the rows of the cosine between the states of theta and of the saturated network,
     * 0 where either is 0: behind each block and, last, what the output layer sees. hard: against the
     * saturated network with hard attention, a check of the other.
     */
    double *soft, *hard;

    /*
     * [layers][heads] of the saturated network: positions that a row attends to, the same divided by its
     * visible positions t + 1 (above 1 where the multiplicative mask lets it see more), and the share of rows
     * that attend to more than one. All means over the rows; a head with NaN among its weights has NaN.
     */
    double *attended, *fraction, *above_one;
    /* [layers][heads][bins] share of the rows: bin 0 those that attend to one position or none, bin k > 0 to
     * 2^(k-1) + 1 .. 2^k. */
    double *histogram;
    /* [bins] number of heads, of all layers, by their mean, rounded: a head that attends to one position but
     * for a few ties is in bin 0. */
    double *heads_histogram;

    const struct kernels *kernels;
    int64_t width, capacity, rows; /* C; rows of the largest batch; rows added */
    scalar *kept; /* [layers + 1][capacity, C] states of theta */
    int32_t *count; /* [heads][capacity] */
};

/* Bins of a histogram of 1 .. context positions: 1 + ceil(log2(context)). */
int64_t saturation_bins(int64_t context);

/*
 * Everything from the arena. rows: of the largest batch; states, heads: what is to be measured, the cosines
 * and the heads' positions. What is not stays NaN.
 */
void saturation_layout(struct saturation *saturation, const struct architecture *architecture, int64_t rows,
    bool states, bool heads, struct arena *arena);

/* Forgets all batches. */
void saturation_begin(struct saturation *saturation);

/*
 * Adds a batch. scaled: the weights times SATURATION_SCALE, from weights_scale. The passes are
 * three for the cosines, one for the heads alone; the last leaves its states in the model.
 */
void saturation_add(struct saturation *saturation, struct transformer *model, const scalar *weights,
    const scalar *scaled, const struct batch *batch);

/* Sums become means; NaN where nothing was added. */
void saturation_end(struct saturation *saturation);

#endif
