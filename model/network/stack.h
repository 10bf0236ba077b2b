#ifndef NORMSWEEP_MODEL_NETWORK_STACK_H
#define NORMSWEEP_MODEL_NETWORK_STACK_H

#include "model/network/pass.h"

/* The embeddings, the blocks, and the final norm where there is one: everything before the output layer. */

/* Returns the input of the output layer, [rows, C]. */
const scalar *stack_forward(const struct pass *pass);

/* The same from the state that lies in the place of the embeddings. */
const scalar *stack_forward_blocks(const struct pass *pass);

/* After the forward pass: the tangents of all states; returns that of the output layer's input. */
const scalar *stack_tangent(const struct pass *pass);

/* The gradients of all tensors of the stack, as far as the pass wants them, from dstream at the output
 * layer's input; in a pass with tgradient, also the tangents of these gradients. */
void stack_gradient(const struct pass *pass);

/* dstream from the gradient of the output layer's input to that of the state after the last block, and back
 * through one block. */
void stack_final_gradient(const struct pass *pass);
void stack_block_gradient(const struct pass *pass, int64_t layer);

/* The tangent of the state after block `layer` from that of the state before it, [rows, C]. */
const scalar *stack_block_tangent(const struct pass *pass, int64_t layer, const scalar *tstate);

#endif
