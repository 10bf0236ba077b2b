#ifndef NORMSWEEP_MODEL_NETWORK_WEIGHTS_H
#define NORMSWEEP_MODEL_NETWORK_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"

enum norm_placement { NORM_POST, NORM_PRE, NORM_OUT };
enum activation { ACTIVATION_RELU, ACTIVATION_GELU, ACTIVATION_GELU_TANH };
enum attention_mask { MASK_CAUSAL, MASK_MULTIPLICATIVE };
enum init { INIT_TORCH, INIT_XAVIER };

/* The architecture: V, T, C, H, F, L and its switches. H divides C. */
struct architecture {
    int64_t vocabulary, context, width, heads, feedforward, layers;
    enum norm_placement norm_placement;
    enum activation activation;
    enum attention_mask attention_mask;
    enum init init;
    bool bias; /* every bias of the layers and LayerNorms; the output layer keeps its own */
    bool tied; /* output weight = token embedding */
    bool zero_query_key;
};

/*
 * The weight list: the kinds of tensors, in memory order. A layer holds one of each from TENSOR_Q to
 * TENSOR_LN2_BIAS (absent biases have size 0); embeddings come before all layers, final LN and output after,
 * so that the parameters of `param_norm` are one contiguous range. q, k, v and their biases are neighbours:
 * one product.
 */
/* clang-format off */
#define TENSOR_KINDS(X) \
    X(TOKEN, token) X(POSITION, position) \
    X(Q, q) X(K, k) X(V, v) X(O, o) X(W1, w1) X(W2, w2) X(LN1, ln1) X(LN2, ln2) \
    X(Q_BIAS, q_bias) X(K_BIAS, k_bias) X(V_BIAS, v_bias) X(O_BIAS, o_bias) \
    X(W1_BIAS, w1_bias) X(W2_BIAS, w2_bias) X(LN1_BIAS, ln1_bias) X(LN2_BIAS, ln2_bias) \
    X(FINAL, final) X(FINAL_BIAS, final_bias) X(OUTPUT, output) X(OUTPUT_BIAS, output_bias)
/* clang-format on */

enum tensor_kind {
#define X(kind, name) TENSOR_##kind,
    TENSOR_KINDS(X)
#undef X
        TENSOR_KIND_COUNT,
    LAYER_TENSOR_FIRST = TENSOR_Q,
    LAYER_TENSOR_COUNT = TENSOR_LN2_BIAS - TENSOR_Q + 1,
};

/* The name of a kind, as the dataset's `tensor` coordinate has it. */
const char *tensor_name(enum tensor_kind kind);

/* One tensor: rows x columns, [out, in] for matrices; vectors are 1 x n. Absent ones have size 0. */
struct tensor {
    enum tensor_kind kind;
    int64_t layer; /* -1 outside the layers */
    int64_t offset, rows, columns, size;
};

/* Where every tensor lies in a plane of `size` scalars (weights, gradients and each moment share the layout).
 */
struct weight_layout {
    int64_t size, largest; /* of the plane, of its largest tensor */
    int64_t layers_begin, layers_end; /* the range of param_norm */
    int64_t tensor_count;
    struct tensor *tensor; /* [tensor_count], in memory order: absent tensors are listed with size 0 */
};

/* Index into weight_layout.tensor; layer is ignored outside the layers. */
int64_t tensor_index(const struct architecture *architecture, enum tensor_kind kind, int64_t layer);

/* Fills the layout; its table is taken from the arena (while counting, only the sizes are set). */
void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena);

/* Number of weights, embeddings and output included. */
int64_t architecture_parameters(const struct architecture *architecture);

/* Draws the initial weights: a function of (architecture, seed); a tensor's draws depend on its kind and
 * layer alone. */
void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed);

/* scaled = factor * weights, the whole plane, each rounded once. */
void weights_scale(const struct weight_layout *layout, scalar *scaled, const scalar *weights, double factor);

#endif
