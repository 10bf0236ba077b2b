#ifndef NORMSWEEP_MODEL_NETWORK_WEIGHTS_H
#define NORMSWEEP_MODEL_NETWORK_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/network/architecture.h"

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
    TRANSFORMED = 1 << 16
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
    X(LN1, ln1, LAYER, GAIN, ONE, WIDTH, ONE, ALWAYS, 8) \
    X(LN2, ln2, LAYER, GAIN, ONE, WIDTH, ONE, ALWAYS, 9) \
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
    X(CROSS_LN, cross_ln, LAYER, GAIN, ONE, WIDTH, ONE, CROSS, 35) \
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

/* Where every tensor lies in a plane of `size` scalars (weights, gradients and each moment share the layout).
 */
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

/* Fills in the layout; its tables come from the arena. While the arena counts, only the sizes are set. */
void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena);

/*
 * The same for a plane in which all blocks have one place, as large as the largest of them needs, so that it
 * holds one block at a time; layers_begin .. layers_end is that place.
 */
void weight_layout_init_shared(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena);

/* Number of weights, embeddings and output included. */
int64_t architecture_parameters(const struct architecture *architecture);

/* Draws the initial weights, a function of (architecture, seed). A tensor's draws depend only on its kind and
 * layer. */
void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed);

/* scaled = factor * weights, `count` of them, each rounded once. */
void weights_scale(scalar *scaled, const scalar *weights, int64_t count, double factor);

/* Where a plane of the shared layout takes its weights from. */
struct weight_source {
    /* Writes the weights of block `layer`, or with layer -1 of what lies outside the blocks, to their places.
     */
    void (*load)(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights);
    void *context;
};

/* The same range of scaled as `load` has written of weights. */
void weights_scale_loaded(
    const struct weight_layout *layout, int64_t layer, scalar *scaled, const scalar *weights, double factor);

#endif
