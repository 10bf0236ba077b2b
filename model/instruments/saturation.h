#ifndef NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H
#define NORMSWEEP_MODEL_INSTRUMENTS_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/blockwise.h"

/*
 * Compares a model f(x; theta) with its saturated network, the limit of f(x; c theta) as c grows: every
 * parameter times SATURATION_SCALE, including embeddings, biases and output; LayerNorm's epsilon is
 * unchanged. Measured over batches; all rows (tokens) have the same weight:
 *     saturation_begin, saturation_add for each batch, saturation_end
 * Both networks pass side by side, block by block, so that neither all states nor all weights need be there.
 */
enum { SATURATION_SCALE = 1000 };

/* The weights and the same times SATURATION_SCALE. With a source, the planes have the shared layout, and the
 * source fills them; without one, they hold both networks. */
struct weight_planes {
    scalar *weights, *scaled;
    const struct weight_source *source; /* or NULL */
};

/* The networks whose states are followed. */
enum compared { COMPARED_THETA, COMPARED_SOFT, COMPARED_HARD, COMPARED_COUNT };

/* Called with a state of theta, [rows, C]: after `depth` blocks of a stack; depth -1: its output. */
typedef void state_function(
    void *context, int64_t stack, int64_t depth, const scalar *state, const struct packed *side);

struct saturation {
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

    state_function *visit; /* NULL; the caller may set it after the layout */
    void *visitor;

    const struct kernels *kernels;
    struct transformer model; /* blockwise */
    int64_t rows[STACKS_MOST]; /* added, of each stack */
    scalar *state[COMPARED_COUNT][STACKS_MOST]; /* [rows, C] the last batch's, at its end the outputs */
    int32_t *count; /* [heads][rows] */
};

/* Bins of a histogram of 1 .. context positions: 1 + ceil(log2(context)). */
int64_t saturation_bins(int64_t context);

/*
 * Takes all memory from the arena. rows: of the largest batch. states: measure the cosines; heads: measure
 * the positions of the heads. What is not measured stays NaN. shared: the planes have a source.
 */
void saturation_layout(struct saturation *saturation, const struct architecture *architecture, int64_t rows,
    int64_t threads, bool states, bool heads, bool shared, struct arena *arena);

/* Forgets all batches. Loads what lies outside the blocks, if the planes have a source. */
void saturation_begin(struct saturation *saturation, const struct weight_planes *planes);

/*
 * Adds a batch, in three forward passes for the cosines, one for the heads alone. If it measures the cosines,
 * state[COMPARED_THETA] then holds the outputs of theta.
 */
void saturation_add(
    struct saturation *saturation, const struct weight_planes *planes, const struct batch *batch);

/* Turns sums into means; NaN if nothing was added. */
void saturation_end(struct saturation *saturation);

#endif
