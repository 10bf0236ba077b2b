#ifndef NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H
#define NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"

/*
 * Compares a model f(x; theta) with its saturated network, the limit of f(x; c theta) as c grows: every
 * parameter times SATURATION_SCALE, including embeddings, biases and output; LayerNorm's epsilon is
 * unchanged. Measured over batches; all rows (tokens) have the same weight:
 *     saturation_begin, saturation_add for each batch, saturation_end
 */
enum { SATURATION_SCALE = 1000 };

struct saturation {
    struct architecture architecture;
    int64_t blocks, stacks, heads, bins;
    bool soft_wanted, heads_wanted; /* measure the cosines; measure what the heads attend to */

    /*
     * [blocks + stacks] mean over the rows of the cosine between the states of theta and of the saturated
     * network, 0 if either is 0: after each block and, behind these, of the output of each stack. hard:
     * against the saturated network with hard attention, as a check of `soft`.
     */
    double *soft, *hard;

    /*
     * [blocks][heads] of the self-attention of the saturated network, means over the rows: the positions that
     * a row attends to, the same divided by its visible positions (in a decoder t + 1: it may exceed 1, as
     * the multiplicative mask lets a row see more), and the share of rows that attend to more than one. NaN
     * for a head with NaN among its weights.
     */
    double *attended, *fraction, *above_one;
    /*
     * [blocks][heads][bins] share of the rows. Bin 0: rows that attend to one position or none; bin k > 0: to
     * 2^(k-1) + 1 .. 2^k positions.
     */
    double *histogram;
    /*
     * [bins] number of heads, of all layers, by their rounded mean: a head that attends to one position
     * except for a few ties is in bin 0.
     */
    double *heads_histogram;

    const struct kernels *kernels;
    int64_t width, capacity; /* C; rows of the largest batch */
    int64_t rows[STACKS_MOST]; /* added, of each stack */
    scalar *kept; /* [blocks + stacks][capacity, C] states of theta */
    int32_t *count; /* [heads][capacity] */
};

/* Bins of a histogram of 1 .. context positions: 1 + ceil(log2(context)). */
int64_t saturation_bins(int64_t context);

/*
 * Takes all memory from the arena. rows: of the largest batch. states: measure the cosines; heads: measure
 * the positions of the heads. What is not measured stays NaN.
 */
void saturation_layout(struct saturation *saturation, const struct architecture *architecture, int64_t rows,
    bool states, bool heads, struct arena *arena);

/* Forgets all batches. */
void saturation_begin(struct saturation *saturation);

/*
 * Adds a batch. scaled: the weights times SATURATION_SCALE, from weights_scale. Takes three forward passes
 * for the cosines, one for the heads alone; the last pass leaves its states in the model.
 */
void saturation_add(struct saturation *saturation, struct transformer *model, const scalar *weights,
    const scalar *scaled, const struct batch *batch);

/* Turns sums into means; NaN if nothing was added. */
void saturation_end(struct saturation *saturation);

#endif
