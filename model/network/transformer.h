#ifndef NORMSWEEP_MODEL_NETWORK_TRANSFORMER_H
#define NORMSWEEP_MODEL_NETWORK_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/network/weights.h"

/*
 * A model ready to train on batches of up to `max_rows` rows with `threads` threads: layout, activations and
 * scratch in one arena. Weights and gradients are the caller's planes. Not thread-safe; no allocation after
 * layout.
 */
struct transformer {
    struct architecture architecture;
    struct weight_layout layout;
    int64_t max_rows;
    struct activations *activations;
};

void transformer_layout(struct transformer *model, const struct architecture *architecture, int64_t max_rows,
    int64_t threads, struct arena *arena);

/*
 * The loss of a batch in nats: the mean over its sequences of the mean over each one's predictions. Where not
 * NULL, row_loss receives -log p of each row's target [rows], and predicted the word of its largest logit
 * [rows], the first of equals. Forward only.
 */
double transformer_evaluate(struct transformer *model, const scalar *weights, const struct batch *batch,
    double *row_loss, int32_t *predicted);

static inline double transformer_loss(
    struct transformer *model, const scalar *weights, const struct batch *batch, double *row_loss)
{
    return transformer_evaluate(model, weights, batch, row_loss, NULL);
}

/* The same loss and its gradient, written over the whole plane `gradient`. */
double transformer_gradient(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *gradient);

/*
 * A forward pass alone, up to what the output layer sees. With `hard` attention each query takes the mean of
 * the values at its largest score, ties within 1e-6 of it: what softmax becomes when scores grow without end.
 */
void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard);

/* After a pass: the state behind block `layer`, [rows, C]. Valid until the next pass, as the next is. */
const scalar *transformer_state(const struct transformer *model, int64_t layer);

/* After a pass: what the output layer sees, [rows, C]: the last state, behind the final LN where there is
 * one. */
const scalar *transformer_final(const struct transformer *model);

/*
 * After a pass over this batch: of each head of a layer and each row, how many of its softmax's weights are
 * above 1e-5, count [H, rows]; -1 where they are NaN.
 */
void transformer_attended(
    struct transformer *model, const struct batch *batch, int64_t layer, int32_t *count);

/* A forward pass and its logits [rows, V], bias included. */
void transformer_logits(
    struct transformer *model, const scalar *weights, const struct batch *batch, scalar *logits);

#endif
