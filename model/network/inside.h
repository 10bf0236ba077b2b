#ifndef NORMSWEEP_MODEL_NETWORK_INSIDE_H
#define NORMSWEEP_MODEL_NETWORK_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"
#include "model/layers/layers.h"
#include "model/network/network.h"

/* ---- sublayer ---- */

struct pass;
struct sublayer;

/* The functions of a kind of sub-layer S. */

/* Takes what S keeps from forward to gradient and, if `tangents`, for tangents, for up to `rows` rows. */
typedef void sublayer_layout_function(struct sublayer *s, const struct architecture *architecture,
    int64_t rows, bool tangents, struct arena *arena);

/* out [rows, C] = residual + S(in); or, after that, tout = tresidual + the tangent of S(in), keeping in
 * s->tangent the tangents of what S keeps. residual may be NULL. */
typedef void sublayer_forward_function(
    const struct pass *pass, const struct sublayer *s, scalar *out, struct dual in, const scalar *residual);

/* din (added to if `add`) and the gradients of S's tensors from dout and the `in` of the forward pass; or,
 * after the tangents and right after the gradient, the tangents of the same. din may be dout, unless tangents
 * follow. */
typedef void sublayer_gradient_function(const struct pass *pass, const struct sublayer *s, scalar *din,
    struct dual dout, struct dual in, bool add);

/* Self-attention: after a pass, what each head and row attends to. */
typedef void sublayer_attended_function(
    const struct pass *pass, const struct sublayer *s, const struct attended *attended);

/*
 * A kind of sub-layer S and the norm beside it. A block is a list of them; a new kind is a file with these
 * functions and a row of sublayer_table. A kind of networks that are measured and not trained has no
 * gradients and no tangents: `gradient` is NULL, and architecture_has_gradients is false.
 */
struct sublayer_row {
    enum tensor_kind gain, shift; /* of the norm */
    sublayer_layout_function *layout;
    sublayer_forward_function *forward;
    sublayer_gradient_function *gradient;
    sublayer_attended_function *attended; /* NULL: not self-attention */
    bool cross; /* attends to the source's stack */
};

sublayer_layout_function attention_layout, distance_layout, feedforward_layout;
sublayer_forward_function attention_forward, distance_forward, feedforward_forward;
sublayer_gradient_function attention_gradient, feedforward_gradient;
sublayer_attended_function attention_attended, distance_attended;

enum sublayer_kind {
    SUBLAYER_ATTENTION,
    SUBLAYER_CROSS,
    SUBLAYER_DISTANCE,
    SUBLAYER_FEEDFORWARD,
    SUBLAYER_KINDS
};

extern const struct sublayer_row sublayer_table[SUBLAYER_KINDS];

/* Where queries, keys and values lie in these planes: see attention.c. */
struct attention_state {
    scalar *projected; /* [rows, H D + 2 K] queries, keys, values */
    scalar *normed; /* [rows, H D + K] queries and keys behind their norms; NULL without */
    scalar *mean[2], *scale[2]; /* [rows, H] statistics of the norms of queries and of keys */
    scalar *mixed; /* [rows, H D] the heads' outputs, before the output projection */
    scalar *most, *inverse; /* [H, rows] statistics of the softmax */
};

/* See distance.c. */
struct distance_state {
    scalar *projected; /* [rows, H D + 2 K] queries with their content bias, keys, values */
    scalar *queries; /* [rows, H D] with their distance bias */
    scalar *keys; /* [2T - 1, H D] of distances, T - 1 first */
    scalar *mixed; /* [rows, H D] */
};

struct feedforward_state {
    scalar *hidden; /* [rows, F] behind the activation */
    scalar *slope; /* [rows, F] before the activation, then its slope; NULL if the product applies relu */
    scalar *gate, *gated; /* [rows, F] x W3, and hidden times it; NULL unless the layer is gated */
    scalar *curvature; /* [rows, F] of the activation, where there is a slope, for tangents; else NULL */
};

/* A sub-layer of one block, and what its forward pass leaves for the gradient. `norm` holds the norm's output
 * under pre and its input under post and out; the norm's other end is `in` or `out`. */
struct sublayer {
    const struct sublayer_row *row;
    int64_t layer;
    scalar *norm; /* [rows, C] */
    scalar *mean, *scale; /* [rows] of the norm */
    scalar *out; /* [rows, C] the residual stream behind it */
    struct sublayer *tangent; /* the tangents of norm, out and state; NULL if the model takes none */
    union {
        struct attention_state attention;
        struct distance_state distance;
        struct feedforward_state feedforward;
    } state;
};

void sublayer_layout(struct sublayer *s, enum sublayer_kind kind, int64_t layer,
    const struct architecture *architecture, int64_t rows, bool tangents, struct arena *arena);

/* s->out from the residual stream x before it; or, after that, s->tangent->out, its tangent. */
void sublayer_forward(const struct pass *pass, const struct sublayer *s, struct dual x);

/* The activations' dstream from the gradient of s->out to that of x; in a pass with tgradient, after
 * the tangents, likewise the tangent of dstream. */
void sublayer_gradient(const struct pass *pass, const struct sublayer *s, struct dual x);

/* ---- activations ---- */

/* A list of sub-layers, in the order of the forward pass. */
struct block {
    int64_t sublayers;
    struct sublayer *sublayer; /* [sublayers] */
};

/* What lies before and behind the blocks of a stack; the same planes hold values or their tangents. */
struct stack {
    struct stack_form form;
    scalar *embedded; /* [rows, C] x0 */
    scalar *summed, *summed_mean, *summed_scale; /* [rows, C], [rows], [rows] before the embeddings' norm */
    scalar *final, *final_mean, *final_scale; /* [rows, C], [rows], [rows] of the final norm; only pre */
    /* [H, stride] the bias of scores by distance, and its gradient; only relative positions */
    scalar *relative, *drelative;
};

/* The activations of a transformer, their gradients, and the threads' scratch. Rows: the packed tokens. */
struct activations {
    struct team team;
    int64_t stacks;
    struct stack stack[STACKS_MOST];
    struct block *block; /* of all stacks */
    scalar *sinusoid; /* [T, C] sinusoidal positions */
    scalar *distances; /* [2T - 1, C] the sinusoids of distances, T - 1 first */
    scalar *cosine, *sine; /* [T, D/2] of the angles of rotary positions */
    int64_t *chosen; /* [rows] the rows with a target */
    int64_t logit_rows;
    scalar *logits; /* [logit_rows, V] of one block of rows */
    scalar *gathered, *dgathered; /* [logit_rows, C] rows with a target, if some have none */
    scalar *headed[2]; /* [logit_rows, C] between these rows and the output matrix, see output.c; or NULL */
    scalar *headed_mean, *headed_scale; /* [logit_rows] of the transform's norm */
    int32_t *target, *predicted; /* [logit_rows] of the rows of the block */
    double *loss, *weight; /* [logit_rows] the losses of the rows, and their weights in that of the batch */
    double *log_sum; /* [logit_rows] the logarithms of the sums of exp(logits) */
    scalar *share; /* [logit_rows] the weights, rounded */
    scalar *dstream; /* [rows, C] gradient of the residual stream */
    scalar *dmemory; /* [rows, C] that of the encoder's output, if cross-attention reads it */
    scalar *dnorm; /* [rows, C] */
    scalar *dscaled; /* [rows, C] dnorm itself, or a plane of its own if the model takes tangents */
    scalar *dmixed; /* [rows, H D] */
    scalar *dprojected; /* [rows, H D + 2 K] of queries, keys and values */
    scalar *dnormed; /* [rows, H D + K] of normed queries and keys, if they have a norm */
    scalar *dhidden; /* [rows, F] */
    scalar *dgate; /* [rows, F] if the feed-forward layers are gated */
    scalar *dgated; /* [rows, F] dhidden itself, or a plane of its own if the model takes tangents */
    /* The tangents of the planes of stacks, logits, gathered rows and all the gradients; those of the blocks
     * are in their sub-layers. NULL if the model takes none. */
    struct activations *tangent;
};

/* Takes everything, including the struct itself, from the arena; NULL while counting. shared: for passes that
 * go block by block, without gradients and tangents; all blocks of a stack share their planes. */
struct activations *activations_layout(const struct architecture *architecture, int64_t max_rows,
    int64_t threads, bool shared, bool tangents, struct arena *arena);

/* ---- pass ---- */

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

/* The residual stream of a stack after `depth` of its blocks, and its tangent or, without tangents, NULL. */
struct dual stack_state(const struct activations *a, int64_t stack, int64_t depth);

/* The output of a stack: its last state, after the final norm where there is one. */
struct dual stack_output(const struct activations *a, int64_t stack);

/* The same pass in a stack. Unless the weights have a tangent, the memory of cross-attention has none. */
struct pass pass_in(const struct pass *pass, int64_t stack);

/* The stack that the pass is in, and its tangents or NULL. */
const struct stack *pass_stack(const struct pass *pass);
const struct stack *pass_stack_tangent(const struct pass *pass);

/* A tensor in a plane of weights or gradients; NULL if the tensor is absent, or the plane is NULL. Outside
 * the layers, `layer` is ignored. */
const scalar *pass_weight(const struct pass *pass, const scalar *plane, enum tensor_kind kind, int64_t layer);
scalar *pass_gradient(const struct pass *pass, scalar *plane, enum tensor_kind kind, int64_t layer);

/* The linear layer of `matrix` and `bias`, or one of `count` matrices that follow one another in memory. */
struct linear pass_linear(
    const struct pass *pass, enum tensor_kind matrix, enum tensor_kind bias, int64_t layer, int64_t count);

/* What multiplies q.k. */
scalar pass_score_scale(const struct pass *pass);

/* The norm with this gain and shift; mean and scale [rows] are its statistics. */
struct norm pass_norm(const struct pass *pass, enum tensor_kind gain, enum tensor_kind shift, int64_t layer,
    scalar *mean, scalar *scale);

/* ---- output ---- */

/* The logits of all rows [rows, V], from the output layer's input x [rows, C]. */
void output_logits(const struct pass *pass, scalar *logits, const scalar *x);

/*
 * The loss of the batch from the output layer's input x [rows, C], block of rows by block of rows, since the
 * logits of a whole batch would not fit the cache. If the pass goes back, also the gradients of the trained
 * loss (see transformer_trained_loss): dstream, that of x, and those of the output layer; with tgradient, the
 * tangents of all these.
 */
double output_loss(const struct pass *pass, struct dual x);

/* ---- stack ---- */

/* Stacks: the embeddings, the blocks, and the final norm where there is one; all stacks together are
 * everything before the output layer. Functions with a block or a state take a pass that is in the stack. */

/* All stacks. Returns the input of the output layer, [rows, C]. */
const scalar *stacks_forward(const struct pass *pass);

/* Parts of a forward pass through one stack: its embeddings into out [rows, C]; the constants of the weights
 * that its blocks read, before the first of them; the final norm of a state into the stack's `final`,
 * or of a tangent into the tangent's. */
void stack_embed(const struct pass *pass, scalar *out);
void stack_place(const struct pass *pass);
void stack_finish(const struct pass *pass, struct dual state);

/* The blocks of one stack, from the state that lies in the place of its embeddings. */
void stack_forward_blocks(const struct pass *pass);

/* After the forward pass: the tangents of all states; returns that of the output layer's input. */
const scalar *stacks_tangent(const struct pass *pass);

/* The gradients of all tensors of all stacks, as far as the pass wants them, from dstream at the output
 * layer's input; in a pass with tgradient, also the tangents of these gradients. */
void stacks_gradient(const struct pass *pass);

/* dstream from the gradient of the output layer's input to that of a stack's state after its last block. */
void stacks_output_gradient(const struct pass *pass, int64_t stack);

/* dstream back through a block; `layer` counts the blocks of all stacks. */
void stack_block_gradient(const struct pass *pass, int64_t layer);

/* The state after block `layer` from that before it, x [rows, C], or its tangent from x's. */
struct dual stack_block_forward(const struct pass *pass, int64_t layer, struct dual x);

#endif
