#ifndef NORMSWEEP_MODEL_NETWORK_PASS_H
#define NORMSWEEP_MODEL_NETWORK_PASS_H

#include "model/layers/linear.h"
#include "model/layers/norm.h"
#include "model/network/activations.h"
#include "model/network/transformer.h"

/*
 * One pass over a batch, inside the network's own files. What is not wanted is NULL: the gradient of the
 * weights, the tangent of the weights (which then counts as 0) and that of their gradient, losses and
 * predictions of rows. Only forward passes may have `hard` attention.
 */
struct pass {
    const struct transformer *model;
    const struct activations *a;
    const struct batch *batch;
    const scalar *weights;
    scalar *gradient;
    const scalar *tweights;
    scalar *tgradient;
    bool hard;
    bool wide; /* see struct norm */
    bool back; /* the gradient of the residual stream, with or without those of the weights */
    double *row_loss; /* [rows] */
    int32_t *predicted; /* [rows] */
    double *tloss; /* the tangent of the trained loss is added to it */
    double *penalty; /* what z_loss adds to the loss is added to it */

    /* Where the pass is: set by pass_in. */
    int64_t stack;
    struct packed packed; /* the side of the batch that the stack reads */
    struct packed source; /* cross-attention: the side of the stack before, its output and tangent */
    struct dual memory;
    bool to_memory; /* back: add the gradient of the memory to dmemory */
};

/* The residual stream of a stack after `depth` of its blocks, and its tangent, or NULL if the model takes
 * none. */
struct dual stack_state(const struct activations *a, int64_t stack, int64_t depth);

/* The output of a stack: its last state, after the final norm where there is one. */
struct dual stack_output(const struct activations *a, int64_t stack);

/* The side of a batch that a stack reads. */
struct packed pass_side(const struct activations *a, const struct batch *batch, int64_t stack);

/* The same pass in a stack. Its cross-attention sees a fixed memory, without a tangent, unless the weights
 * have one. */
struct pass pass_in(const struct pass *pass, int64_t stack);

/* The stack that the pass is in, and its tangents or NULL. */
const struct stack *pass_stack(const struct pass *pass);
const struct stack *pass_stack_tangent(const struct pass *pass);

/* A tensor in a plane of weights or gradients; NULL if the tensor is absent, or the plane is NULL. Outside
 * the layers, `layer` is ignored. */
const scalar *pass_weight(const struct pass *pass, const scalar *plane, enum tensor_kind kind, int64_t layer);
scalar *pass_gradient(const struct pass *pass, scalar *plane, enum tensor_kind kind, int64_t layer);

/* The linear layer of `matrix` and `bias`, or of `count` matrices that follow one another in memory: their
 * products are one. */
struct linear pass_linear(
    const struct pass *pass, enum tensor_kind matrix, enum tensor_kind bias, int64_t layer, int64_t count);

/* What multiplies q.k. */
scalar pass_score_scale(const struct pass *pass);

/* The norm with this gain and shift; mean and scale [rows] are its statistics. */
struct norm pass_norm(const struct pass *pass, enum tensor_kind gain, enum tensor_kind shift, int64_t layer,
    scalar *mean, scalar *scale);

#endif
