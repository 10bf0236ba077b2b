#ifndef NORMSWEEP_MODEL_NETWORK_STACK_H
#define NORMSWEEP_MODEL_NETWORK_STACK_H

#include "model/network/pass.h"

/*
 * Stacks: the embeddings, the blocks, and the final norm where there is one; all stacks together are
 * everything before the output layer. Functions with a block or a state take a pass that is in the stack.
 */

/* All stacks. Returns the input of the output layer, [rows, C]. */
const scalar *stacks_forward(const struct pass *pass);

/* Parts of a forward pass through one stack: its embeddings into out [rows, C]; the constants of the weights
 * that its blocks read, before the first of them; the final norm of a state into the stack's `final`. */
void stack_embed(const struct pass *pass, scalar *out);
void stack_place(const struct pass *pass);
void stack_finish(const struct pass *pass, const scalar *state);

/* The blocks of one stack, from the state that lies in the place of its embeddings. */
void stack_forward_blocks(const struct pass *pass);

/* After the forward pass: the tangents of all states; returns that of the output layer's input. */
const scalar *stacks_tangent(const struct pass *pass);

/* The gradients of all tensors of all stacks, as far as the pass wants them, from dstream at the output
 * layer's input; in a pass with tgradient, also the tangents of these gradients. */
void stacks_gradient(const struct pass *pass);

/*
 * dstream from the gradient of the output layer's input to that of the state after the last block of a stack.
 */
void stacks_output_gradient(const struct pass *pass, int64_t stack);

/* dstream back through a block; `layer` counts the blocks of all stacks. */
void stack_block_gradient(const struct pass *pass, int64_t layer);

/* The tangent of the state after block `layer` from that of the state before it, [rows, C]. */
const scalar *stack_block_tangent(const struct pass *pass, int64_t layer, const scalar *tstate);

#endif
