#ifndef NORMSWEEP_MODEL_NETWORK_TRANSFORMER_H
#define NORMSWEEP_MODEL_NETWORK_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/network/weights.h"

/*
 * A model for batches of up to `max_rows` rows on either side, with `threads` threads: layout, activations
 * and scratch in one arena. Weights and gradients are planes of the caller. Not thread-safe; no allocation
 * after layout. With `tangents`, which double the activations, it also has products with Jacobians and
 * Hessians.
 */
struct transformer {
    struct architecture architecture;
    struct weight_layout layout;
    int64_t max_rows;
    struct activations *activations;
};

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool tangents, struct arena *arena);

/*
 * The loss of a batch in nats: the mean over its sequences of the mean over each sequence's targets. If not
 * NULL, row_loss [rows] receives -log p of each row's target, NaN without one, and predicted [rows] the word
 * of its largest logit, the first of equal ones, NO_TARGET without a target. Forward only.
 */
double transformer_evaluate(struct transformer *model, const scalar *weights, const struct batch *batch,
    double *row_loss, int32_t *predicted);

static inline double transformer_loss(
    struct transformer *model, const scalar *weights, const struct batch *batch, double *row_loss)
{
    return transformer_evaluate(model, weights, batch, row_loss, NULL);
}

/*
 * The trained loss: this loss plus the architecture's z_loss times the mean, with the same weights of rows,
 * of the square of the logarithm of the sum of exp(logits). All losses that are returned are without that
 * part, but for this one; all gradients and tangents below are of the trained loss. Training needs its
 * gradient alone; tests compare that with differences of the loss itself.
 */
double transformer_trained_loss(struct transformer *model, const scalar *weights, const struct batch *batch);

/* The loss; overwrites the whole plane `gradient` with the gradient of the trained loss. Like all gradients
 * and tangents below, only for networks that have them: see architecture_has_gradients. */
double transformer_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *gradient);

/*
 * A forward pass up to the input of the output layer. With `hard` attention each query takes the mean of the
 * values at its largest score, ties within 1e-6 of it: the limit of softmax as scores grow.
 */
void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard);

/*
 * A forward pass through one stack, from a state [rows, C] in place of its embeddings; the batch needs no
 * tokens. A decoder of an encoder-decoder attends to the encoder's output of the last pass.
 */
void transformer_forward_from(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t stack, const scalar *state);

/* After a pass: the residual stream of a stack after `depth` of its blocks, [rows, C], valid until the next
 * pass. Rows are those of the side of the batch that the stack reads. */
const scalar *transformer_state(const struct transformer *model, int64_t stack, int64_t depth);

/* After a pass: the output of a stack, [rows, C], valid until the next pass: its last state, after the final
 * norm if there is one. */
const scalar *transformer_output(const struct transformer *model, int64_t stack);

/* That of the last stack: the input of the output layer. */
const scalar *transformer_final(const struct transformer *model);

/* The side of a batch that a stack reads. */
struct packed transformer_side(const struct transformer *model, const struct batch *batch, int64_t stack);

/*
 * After a pass over this batch: count [H, rows] = the number of attention weights above 1e-5 of each head of
 * the self-attention of a block, and each row of its stack; -1 where they are NaN.
 */
void transformer_attended(
    struct transformer *model, const struct batch *batch, int64_t layer, int32_t *count);

/* A forward pass; logits [rows, V] include the bias. */
void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits);

/*
 * product, a plane, = H direction: the Hessian of the batch's trained loss times a plane, exact (the
 * derivative of the gradient along the direction: Pearlmutter 1994), where relu has no curvature. Takes about
 * three times as long as transformer_gradient. *slope receives the derivative of the trained loss along the
 * direction. Returns the loss, without what z_loss adds. The model must have tangents; the three planes must
 * not overlap.
 */
double transformer_hessian_product(struct transformer *model, const scalar *weights,
    const struct batch *batch, const scalar *direction, scalar *product, double *slope);

/*
 * After a pass over this batch with these weights and softmax attention, not `hard`: products with Jacobians
 * of the residual stream. dstate, tstate: [rows, C] of the stack; the weights stay fixed, and what
 * cross-attention reads.
 * - output_gradient: dstate = the gradient of the trained loss with respect to the stream after the last
 * block of a stack; returns the loss.
 * - block_gradient: dstate, a gradient with respect to the stream after block `layer`, becomes the one before
 *   that block. `layer` counts the blocks of all stacks.
 * - block_tangent: tstate, a tangent of the stream before block `layer`, becomes that after it. The model
 *   must have tangents.
 */
double transformer_output_gradient(struct transformer *model, const scalar *weights,
    const struct batch *batch, int64_t stack, scalar *dstate);
void transformer_block_gradient(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *dstate);
void transformer_block_tangent(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, scalar *tstate);

#endif
