#ifndef NORMSWEEP_MODEL_NETWORK_NETWORK_H
#define NORMSWEEP_MODEL_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/batch.h"
#include "model/core/scalar.h"
#include "model/kernels/kernels.h"
#include "model/layers/layers.h"

/* ---- architecture ---- */

/* The stacks of a network: a decoder sees the past, an encoder everything; an encoder-decoder has both. */
enum network { NETWORK_DECODER, NETWORK_ENCODER, NETWORK_ENCODER_DECODER };

enum norm_placement { NORM_POST, NORM_PRE, NORM_OUT };
enum init { INIT_TORCH, INIT_XAVIER, INIT_NORMAL };

/* How a network knows the order of its tokens. */
enum positions {
    POSITIONS_LEARNED, /* an embedding of each position, added to that of the token */
    POSITIONS_SINUSOIDAL, /* the same, fixed: Vaswani et al. 2017 */
    POSITIONS_ROTARY, /* queries and keys turn by angles in proportion to the position: Su et al. 2021 */
    POSITIONS_RELATIVE, /* a bias of each head on each score, by distance: Raffel et al. 2020 */
    POSITIONS_NONE,
    POSITIONS_DISTANCE, /* keys of distances, made of their sinusoids: Yang et al. 2019; forward only */
};

/* Scores are q.k / sqrt(D), q.k, or q.k / D: the last as Yang et al. 2022 want them. */
enum score_scale { SCORE_SQRT, SCORE_NONE, SCORE_DEPTH };

/* Which layers have biases. */
enum biases {
    BIAS_QKV = 1, /* queries, keys and values */
    BIAS_O = 2, /* what attention adds to the residual stream */
    BIAS_FEEDFORWARD = 4,
    BIAS_NORM = 8, /* norms that can have one */
    BIAS_OUTPUT = 16, /* the logits */
    BIAS_LAYERS = BIAS_QKV | BIAS_O | BIAS_FEEDFORWARD | BIAS_NORM,
    BIAS_ALL = BIAS_LAYERS | BIAS_OUTPUT,
};

enum qk_norm { QK_NORM_NONE, QK_NORM_HEAD /* each head alone */, QK_NORM_TOGETHER /* all heads of a row */ };

/* The most blocks of an architecture: the initial values of each tensor have draws of their own. */
enum { LAYERS_MOST = (1 << 17) - 1 };

/* The most stacks of a network. */
enum { STACKS_MOST = 2 };

/* The architecture: sizes V, T, C, H, F, L, and switches. kv_heads divides H. Zeros below the line are what
 * sweeps train; networks of others may have other values. */
struct architecture {
    enum network network;
    int64_t vocabulary, context, width, heads, feedforward;
    int64_t kv_heads; /* 0: as many as heads */
    int64_t layers; /* of the one stack, or of the encoder of an encoder-decoder */
    int64_t decoder_layers; /* of the decoder of an encoder-decoder, 0: as many as layers; else ignored */
    enum norm_placement norm_placement;
    enum norm_kind norm;
    enum qk_norm qk_norm; /* the same kind of norm over queries and keys */
    enum positions positions;
    enum score_scale score_scale;
    enum activation activation;
    enum precision precision; /* of the factors of all matrix products */
    bool gated; /* the feed-forward layer multiplies act(x W1) by x W3 */
    enum attention_mask attention_mask; /* of decoders */
    enum init init;
    double init_deviation; /* of INIT_NORMAL */
    unsigned biases; /* of enum biases */
    bool tied; /* output weight = token embedding */
    bool zero_query_key;
    double init_scale; /* > 0, times every initial matrix of the layers */
    double residual_scale; /* > 0, times what each sub-layer adds to the residual stream */
    double output_scale; /* times the output matrix's input; 0: 1 */
    int64_t output_inputs; /* the output layer starts as if it had this many inputs; 0: C */
    double z_loss; /* >= 0, of the trained loss: see transformer_trained_loss */

    /* ---- with gradients, too ---- */
    int64_t head_width; /* D; 0: C / H, which H then divides */
    double norm_epsilon; /* 0: 1e-5 */
    double rotary_base; /* 0: 10000 */
    struct rotary_scaling rotary_scaling;
    bool final_norm; /* at the end of each stack, under any placement; under pre always */
    /* ---- forward only ---- */
    int64_t token_types; /* rows of a table of token types, of which all tokens have the first; 0: no table */
    bool embedding_norm; /* on the sum of the embeddings */
    bool transform; /* before the output matrix: a linear layer, the activation and a layernorm */
};

/* D, the width of a head's queries, keys and values. */
int64_t architecture_depth(const struct architecture *architecture);

/* Has the network gradients and tangents? Those of others that no sweep trains have none. */
bool architecture_has_gradients(const struct architecture *architecture);

double architecture_norm_epsilon(const struct architecture *architecture);
double architecture_rotary_base(const struct architecture *architecture);

/* One stack: the blocks begin .. end - 1 of all blocks of the network, the encoder's first. */
struct stack_form {
    int64_t begin, end;
    enum attention_mask mask; /* of its self-attention */
    bool cross; /* its blocks attend to the output of the stack before it */
    bool source; /* it reads the batch's source */
};

/* The number of heads of keys and values. */
int64_t architecture_kv_heads(const struct architecture *architecture);

/* The number of stacks, 1 or 2, and the form of one. The last stack leads to the output layer. */
int64_t architecture_stacks(const struct architecture *architecture);
struct stack_form architecture_stack(const struct architecture *architecture, int64_t stack);

/* The number of blocks of all stacks together, and the stack of one of them. */
int64_t architecture_blocks(const struct architecture *architecture);
int64_t architecture_stack_of(const struct architecture *architecture, int64_t block);

/* ---- weights ---- */

/* The lengths in shapes of tensors; EXTENT_ONE is the rows of a vector. */
enum tensor_extent {
    EXTENT_ONE,
    EXTENT_VOCABULARY,
    EXTENT_CONTEXT,
    EXTENT_WIDTH,
    EXTENT_QUERIES, /* of the queries of all heads: H D */
    EXTENT_KEYS, /* of the keys, and of the values, of all heads: D for each of kv_heads */
    EXTENT_HEADS,
    EXTENT_FEEDFORWARD,
    EXTENT_BUCKETS,
    EXTENT_Q_NORM, /* of the norm of queries, of keys: D, or all heads together */
    EXTENT_K_NORM,
    EXTENT_TYPES, /* of tokens */
    EXTENT_COUNT
};

/* The role of a tensor, which decides its initial values: see weights_init. */
enum tensor_role {
    ROLE_EMBEDDING,
    ROLE_MATRIX,
    ROLE_WRITER, /* a matrix whose output is added to the residual stream */
    ROLE_BIAS,
    ROLE_GAIN,
    ROLE_SHIFT
};

/* The part of the model that a tensor belongs to. `param_norm` covers the layers. */
enum tensor_part { PART_EMBEDDING, PART_LAYER, PART_FINAL, PART_OUTPUT };

/* What an architecture, and a block of it, must have to have a tensor: all of the tensor's bits. */
enum tensor_needs {
    ALWAYS = 0,
    FEEDFORWARD_BIASED = 1 << 0,
    SHIFTED = 1 << 1, /* biases, and a norm that has one */
    FINAL_NORM = 1 << 2,
    GATED = 1 << 3,
    UNTIED = 1 << 4,
    QK_NORM = 1 << 5,
    CROSS = 1 << 6, /* the block has cross-attention */
    TWO_STACKS = 1 << 7,
    LEARNED = 1 << 8, /* positions */
    RELATIVE = 1 << 9,
    QKV_BIASED = 1 << 10,
    O_BIASED = 1 << 11,
    OUTPUT_BIASED = 1 << 12,
    /* forward only: tensors of networks that have no gradients */
    TYPED = 1 << 13,
    EMBEDDING_NORMED = 1 << 14,
    DISTANCE = 1 << 15,
    TRANSFORMED = 1 << 16,
    WITH_NORMS = 1 << 17 /* blocks have norms */
};

/*
 * The tensor table: X(KIND, name, part, role, rows, columns, fan_in, needs, draw), in memory order.
 * It is the single source of the layout, initial values, checkpoints, trained weights of others, norms and
 * the dataset's `tensor` coordinate; a new tensor is one row.
 *
 * fan_in: inputs of the linear layer that a matrix or bias belongs to. draw: the number under which initial
 * values are drawn; rows that are added later take the next free one, so that no run changes.
 *
 * A block holds one of each tensor of PART_LAYER (absent ones have size 0). Embeddings come before all
 * layers, final norms and output after, so that the parameters of `param_norm` are one contiguous range. q,
 * k, v and their biases are neighbours: one product; likewise cross_k and cross_v. Of an encoder-decoder,
 * position, relative and final belong to the decoder.
 */
/* clang-format off */
#define TENSORS(X) \
    X(TOKEN, token, EMBEDDING, EMBEDDING, VOCABULARY, WIDTH, ONE, ALWAYS, 0) \
    X(POSITION, position, EMBEDDING, EMBEDDING, CONTEXT, WIDTH, ONE, LEARNED, 1) \
    X(RELATIVE, relative, EMBEDDING, EMBEDDING, BUCKETS, HEADS, ONE, RELATIVE, 24) \
    X(ENCODER_POSITION, encoder_position, EMBEDDING, EMBEDDING, CONTEXT, WIDTH, ONE, \
        LEARNED | TWO_STACKS, 25) \
    X(ENCODER_RELATIVE, encoder_relative, EMBEDDING, EMBEDDING, BUCKETS, HEADS, ONE, \
        RELATIVE | TWO_STACKS, 26) \
    X(TYPE, type, EMBEDDING, EMBEDDING, TYPES, WIDTH, ONE, TYPED, 47) \
    X(EMBEDDING_NORM, embedding_norm, EMBEDDING, GAIN, ONE, WIDTH, ONE, EMBEDDING_NORMED, 48) \
    X(EMBEDDING_NORM_BIAS, embedding_norm_bias, EMBEDDING, SHIFT, ONE, WIDTH, ONE, \
        EMBEDDING_NORMED | SHIFTED, 49) \
    X(Q, q, LAYER, MATRIX, QUERIES, WIDTH, WIDTH, ALWAYS, 2) \
    X(K, k, LAYER, MATRIX, KEYS, WIDTH, WIDTH, ALWAYS, 3) \
    X(V, v, LAYER, MATRIX, KEYS, WIDTH, WIDTH, ALWAYS, 4) \
    X(O, o, LAYER, WRITER, WIDTH, QUERIES, QUERIES, ALWAYS, 5) \
    X(W1, w1, LAYER, MATRIX, FEEDFORWARD, WIDTH, WIDTH, ALWAYS, 6) \
    X(W2, w2, LAYER, WRITER, WIDTH, FEEDFORWARD, FEEDFORWARD, ALWAYS, 7) \
    X(LN1, ln1, LAYER, GAIN, ONE, WIDTH, ONE, WITH_NORMS, 8) \
    X(LN2, ln2, LAYER, GAIN, ONE, WIDTH, ONE, WITH_NORMS, 9) \
    X(Q_BIAS, q_bias, LAYER, BIAS, ONE, QUERIES, WIDTH, QKV_BIASED, 10) \
    X(K_BIAS, k_bias, LAYER, BIAS, ONE, KEYS, WIDTH, QKV_BIASED, 11) \
    X(V_BIAS, v_bias, LAYER, BIAS, ONE, KEYS, WIDTH, QKV_BIASED, 12) \
    X(O_BIAS, o_bias, LAYER, BIAS, ONE, WIDTH, QUERIES, O_BIASED, 13) \
    X(W1_BIAS, w1_bias, LAYER, BIAS, ONE, FEEDFORWARD, WIDTH, FEEDFORWARD_BIASED, 14) \
    X(W2_BIAS, w2_bias, LAYER, BIAS, ONE, WIDTH, FEEDFORWARD, FEEDFORWARD_BIASED, 15) \
    X(LN1_BIAS, ln1_bias, LAYER, SHIFT, ONE, WIDTH, ONE, SHIFTED, 16) \
    X(LN2_BIAS, ln2_bias, LAYER, SHIFT, ONE, WIDTH, ONE, SHIFTED, 17) \
    X(W3, w3, LAYER, MATRIX, FEEDFORWARD, WIDTH, WIDTH, GATED, 22) \
    X(W3_BIAS, w3_bias, LAYER, BIAS, ONE, FEEDFORWARD, WIDTH, GATED | FEEDFORWARD_BIASED, 23) \
    X(Q_NORM, q_norm, LAYER, GAIN, ONE, Q_NORM, ONE, QK_NORM, 27) \
    X(K_NORM, k_norm, LAYER, GAIN, ONE, K_NORM, ONE, QK_NORM, 28) \
    X(Q_NORM_BIAS, q_norm_bias, LAYER, SHIFT, ONE, Q_NORM, ONE, QK_NORM | SHIFTED, 29) \
    X(K_NORM_BIAS, k_norm_bias, LAYER, SHIFT, ONE, K_NORM, ONE, QK_NORM | SHIFTED, 30) \
    X(CROSS_Q, cross_q, LAYER, MATRIX, QUERIES, WIDTH, WIDTH, CROSS, 31) \
    X(CROSS_K, cross_k, LAYER, MATRIX, KEYS, WIDTH, WIDTH, CROSS, 32) \
    X(CROSS_V, cross_v, LAYER, MATRIX, KEYS, WIDTH, WIDTH, CROSS, 33) \
    X(CROSS_O, cross_o, LAYER, WRITER, WIDTH, QUERIES, QUERIES, CROSS, 34) \
    X(CROSS_LN, cross_ln, LAYER, GAIN, ONE, WIDTH, ONE, CROSS | WITH_NORMS, 35) \
    X(CROSS_Q_BIAS, cross_q_bias, LAYER, BIAS, ONE, QUERIES, WIDTH, CROSS | QKV_BIASED, 36) \
    X(CROSS_K_BIAS, cross_k_bias, LAYER, BIAS, ONE, KEYS, WIDTH, CROSS | QKV_BIASED, 37) \
    X(CROSS_V_BIAS, cross_v_bias, LAYER, BIAS, ONE, KEYS, WIDTH, CROSS | QKV_BIASED, 38) \
    X(CROSS_O_BIAS, cross_o_bias, LAYER, BIAS, ONE, WIDTH, QUERIES, CROSS | O_BIASED, 39) \
    X(CROSS_LN_BIAS, cross_ln_bias, LAYER, SHIFT, ONE, WIDTH, ONE, CROSS | SHIFTED, 40) \
    X(CROSS_Q_NORM, cross_q_norm, LAYER, GAIN, ONE, Q_NORM, ONE, CROSS | QK_NORM, 41) \
    X(CROSS_K_NORM, cross_k_norm, LAYER, GAIN, ONE, K_NORM, ONE, CROSS | QK_NORM, 42) \
    X(CROSS_Q_NORM_BIAS, cross_q_norm_bias, LAYER, SHIFT, ONE, Q_NORM, ONE, CROSS | QK_NORM | SHIFTED, 43) \
    X(CROSS_K_NORM_BIAS, cross_k_norm_bias, LAYER, SHIFT, ONE, K_NORM, ONE, CROSS | QK_NORM | SHIFTED, 44) \
    X(DISTANCE, distance, LAYER, MATRIX, QUERIES, WIDTH, WIDTH, DISTANCE, 50) \
    X(CONTENT_BIAS, content_bias, LAYER, BIAS, ONE, QUERIES, WIDTH, DISTANCE, 51) \
    X(DISTANCE_BIAS, distance_bias, LAYER, BIAS, ONE, QUERIES, WIDTH, DISTANCE, 52) \
    X(FINAL, final, FINAL, GAIN, ONE, WIDTH, ONE, FINAL_NORM, 18) \
    X(FINAL_BIAS, final_bias, FINAL, SHIFT, ONE, WIDTH, ONE, FINAL_NORM | SHIFTED, 19) \
    X(ENCODER_FINAL, encoder_final, FINAL, GAIN, ONE, WIDTH, ONE, FINAL_NORM | TWO_STACKS, 45) \
    X(ENCODER_FINAL_BIAS, encoder_final_bias, FINAL, SHIFT, ONE, WIDTH, ONE, \
        FINAL_NORM | SHIFTED | TWO_STACKS, 46) \
    X(TRANSFORM, transform, OUTPUT, MATRIX, WIDTH, WIDTH, WIDTH, TRANSFORMED, 53) \
    X(TRANSFORM_BIAS, transform_bias, OUTPUT, BIAS, ONE, WIDTH, WIDTH, TRANSFORMED, 54) \
    X(TRANSFORM_NORM, transform_norm, OUTPUT, GAIN, ONE, WIDTH, ONE, TRANSFORMED, 55) \
    X(TRANSFORM_NORM_BIAS, transform_norm_bias, OUTPUT, SHIFT, ONE, WIDTH, ONE, TRANSFORMED | SHIFTED, 56) \
    X(OUTPUT, output, OUTPUT, MATRIX, VOCABULARY, WIDTH, WIDTH, UNTIED, 20) \
    X(OUTPUT_BIAS, output_bias, OUTPUT, BIAS, ONE, VOCABULARY, WIDTH, OUTPUT_BIASED, 21)
/* clang-format on */

enum tensor_kind {
#define X(KIND, ...) TENSOR_##KIND,
    TENSORS(X)
#undef X
        TENSOR_KIND_COUNT,
    LAYER_TENSOR_FIRST = TENSOR_Q,
    LAYER_TENSOR_END = TENSOR_FINAL,
    LAYER_TENSOR_COUNT = LAYER_TENSOR_END - LAYER_TENSOR_FIRST,
};

struct tensor_row {
    const char *name; /* as the dataset's `tensor` coordinate has it */
    enum tensor_part part;
    enum tensor_role role;
    enum tensor_extent rows, columns, fan_in;
    unsigned needs; /* of enum tensor_needs */
    uint64_t draw;
};

extern const struct tensor_row tensor_table[TENSOR_KIND_COUNT];

/* The length in an architecture. */
int64_t extent_length(const struct architecture *architecture, enum tensor_extent extent);

/* One tensor: rows x columns, [out, in] for matrices; vectors are 1 x n. Absent ones have size 0. */
struct tensor {
    enum tensor_kind kind;
    int64_t layer; /* its block; -1 outside the layers */
    int64_t offset, rows, columns, size;
};

/* Where each tensor lies in a plane of `size` scalars: weights, gradients and moments share the layout. */
struct weight_layout {
    int64_t size, largest; /* of the plane, of its largest tensor */
    int64_t largest_in_layers; /* the size of the largest tensor of a block */
    int64_t layers_begin, layers_end; /* the range of param_norm */
    int64_t *layer_begin; /* [blocks + 1] of each block, and the end of the last; not of shared blocks */
    int64_t tensor_count;
    struct tensor *tensor; /* [tensor_count], in memory order: absent tensors are listed with size 0 */
};

/* Index into weight_layout.tensor; layer is ignored outside the layers. */
int64_t tensor_index(const struct architecture *architecture, enum tensor_kind kind, int64_t layer);

/*
 * Fills in the layout; its tables come from the arena. While the arena counts, only the sizes are set.
 * shared: all blocks have one place, as large as the largest of them needs, so that a plane holds one block
 * at a time; layers_begin .. layers_end is that place.
 */
void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, bool shared, struct arena *arena);

/* Number of weights, embeddings and output included. */
int64_t architecture_parameters(const struct architecture *architecture);

/* Draws the initial weights of a seed. The draws of a tensor depend only on its kind and layer. */
void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed);

/* scaled = factor * weights, `count` of them, each rounded once. */
void weights_scale(scalar *scaled, const scalar *weights, int64_t count, double factor);

/* Where a plane of the shared layout takes its weights from. */
struct weight_source {
    /* Writes the weights of block `layer`, or with -1 of what lies outside the blocks, to their places. */
    void (*load)(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights);
    void *context;
};

/* The same range of scaled as `load` has written of weights. */
void weights_scale_loaded(
    const struct weight_layout *layout, int64_t layer, scalar *scaled, const scalar *weights, double factor);

/* ---- transformer ---- */

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

/* A forward pass up to the input of the output layer. With `hard` attention each query takes the mean of the
 * values at its largest score, ties within 1e-6 of it: the limit of softmax as scores grow. */
void transformer_forward(
    struct transformer *model, const scalar *weights, const struct batch *batch, bool hard);

/* A forward pass through one stack, from a state [rows, C] in place of its embeddings; the batch needs no
 * tokens. A decoder of an encoder-decoder attends to the encoder's output of the last pass. */
void transformer_forward_from(struct transformer *model, const scalar *weights, const struct batch *batch,
    int64_t stack, const scalar *state);

/* After a pass: the residual stream of a stack after `depth` of its blocks, [rows, C], valid until the next
 * pass. Rows are those of the side of the batch that the stack reads. */
const scalar *transformer_state(const struct transformer *model, int64_t stack, int64_t depth);

/* After a pass: a stack's last state, after the final norm if there is one, [rows, C], valid until the next
 * pass. */
const scalar *transformer_output(const struct transformer *model, int64_t stack);

/* That of the last stack: the input of the output layer. */
const scalar *transformer_final(const struct transformer *model);

/* The side of a batch that a stack reads. */
struct packed transformer_side(const struct transformer *model, const struct batch *batch, int64_t stack);

/* After a pass over this batch: what each head of the self-attention of a block, and each row of its stack,
 * attends to: all of attended [H, rows]. Attention by distance knows only the count. */
void transformer_attended(
    struct transformer *model, const struct batch *batch, int64_t layer, const struct attended *attended);

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

/* ---- blockwise ---- */

/*
 * Forward passes that go block by block, for networks that are measured and not trained: the caller keeps the
 * states, the blocks share one set of activations, and a plane of the shared layout holds one block at a
 * time. The order of a pass:
 *
 *     for each stack: blockwise_embed; blockwise_block for each of its blocks, in order; blockwise_finish
 *
 * States are [rows, C] of the side of the batch that the stack reads.
 */

/* Without gradients and tangents. shared: the layout has one place for all blocks. */
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
