#ifndef NORMSWEEP_MODEL_NETWORK_BLOCKWISE_H
#define NORMSWEEP_MODEL_NETWORK_BLOCKWISE_H

#include "model/network/transformer.h"

/*
 * Forward passes that go block by block, for networks that are measured and not trained: the caller keeps the
 * states, the blocks share one set of activations, and a plane of the shared layout holds one block at a
 * time. The order of a pass:
 *
 *     for each stack: blockwise_embed; blockwise_block for each of its blocks, in order; blockwise_finish
 *
 * States are [rows, C] of the side of the batch that the stack reads.
 */

/* Without gradients and tangents. shared: the layout is that of weight_layout_init_shared. */
void blockwise_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool shared, struct arena *arena);

/* The stream before the first block of a stack. */
void blockwise_embed(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t stack, scalar *state);

/* The stream behind block `layer` from that before it, in place. memory: the output of the stack before,
 * which cross-attention reads; else NULL. hard: see transformer_forward. transformer_attended may follow. */
void blockwise_block(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t layer, bool hard, const scalar *memory, scalar *state);

/* The output of a stack from its last state, in place. */
void blockwise_finish(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t stack, scalar *state);

/* transformer_evaluate from the output of the last stack. */
double blockwise_loss(struct transformer *model, const scalar *weights, const struct batch *batch,
    const scalar *state, double *row_loss, int32_t *predicted);

#endif
