#ifndef NORMSWEEP_MODEL_NETWORK_WEIGHTS_H
#define NORMSWEEP_MODEL_NETWORK_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"
#include "model/layers/activation.h"
#include "model/layers/norm.h"

enum norm_placement { NORM_POST, NORM_PRE, NORM_OUT };
enum init { INIT_TORCH, INIT_XAVIER };

/* The most layers of an architecture: the initial values of each tensor have draws of their own. */
enum { LAYERS_MOST = (1 << 17) - 1 };

/* The architecture: sizes V, T, C, H, F, L, and switches. H divides C. */
struct architecture {
    int64_t vocabulary, context, width, heads, feedforward, layers;
    enum norm_placement norm_placement;
    enum norm_kind norm;
    enum activation activation;
    bool gated; /* the feed-forward layer multiplies act(x W1) by x W3 */
    enum attention_mask attention_mask;
    enum init init;
    bool bias; /* all biases of the layers and norms; the output layer always has one */
    bool tied; /* output weight = token embedding */
    bool zero_query_key;
    double init_scale; /* > 0, times every initial matrix of the layers */
    double residual_scale; /* > 0, times what each sub-layer adds to the residual stream */
};

/* The lengths in shapes of tensors; EXTENT_ONE is the rows of a vector. */
enum tensor_extent {
    EXTENT_ONE,
    EXTENT_VOCABULARY,
    EXTENT_CONTEXT,
    EXTENT_WIDTH,
    EXTENT_FEEDFORWARD,
    EXTENT_COUNT
};

/* The role of a tensor, which decides its initial values: see weights_init. */
enum tensor_role { ROLE_EMBEDDING, ROLE_MATRIX, ROLE_BIAS, ROLE_GAIN, ROLE_SHIFT };

/* The part of the model that a tensor belongs to. `param_norm` covers the layers. */
enum tensor_part { PART_EMBEDDING, PART_LAYER, PART_FINAL, PART_OUTPUT };

/* The architectures that have a tensor. */
enum tensor_presence {
    ALWAYS,
    WITH_BIAS,
    WITH_SHIFT, /* with biases, if the norm has one */
    WITH_FINAL_NORM,
    WITH_FINAL_SHIFT,
    GATED,
    GATED_WITH_BIAS,
    UNTIED
};

/*
 * The tensor table: X(KIND, name, part, role, rows, columns, fan_in, presence, draw, gpt2), in memory order.
 * It is the single source of the layout, initial values, checkpoints, trained weights of others, norms and
 * the dataset's `tensor` coordinate; a new tensor is one row.
 *
 * fan_in: inputs of the linear layer that a matrix or bias belongs to. draw: the number under which initial
 * values are drawn; rows that are added later take the next free one, so that no run changes. gpt2: the name
 * in GPT-2's files, behind "h.N." in layers; neighbours of one name lie side by side there.
 *
 * A layer holds one of each tensor of PART_LAYER (absent ones have size 0). Embeddings come before all
 * layers, final norm and output after, so that the parameters of `param_norm` are one contiguous range. q, k,
 * v and their biases are neighbours: one product.
 */
/* clang-format off */
#define TENSORS(X) \
    X(TOKEN, token, EMBEDDING, EMBEDDING, VOCABULARY, WIDTH, ONE, ALWAYS, 0, "wte.weight") \
    X(POSITION, position, EMBEDDING, EMBEDDING, CONTEXT, WIDTH, ONE, ALWAYS, 1, "wpe.weight") \
    X(Q, q, LAYER, MATRIX, WIDTH, WIDTH, WIDTH, ALWAYS, 2, "attn.c_attn.weight") \
    X(K, k, LAYER, MATRIX, WIDTH, WIDTH, WIDTH, ALWAYS, 3, "attn.c_attn.weight") \
    X(V, v, LAYER, MATRIX, WIDTH, WIDTH, WIDTH, ALWAYS, 4, "attn.c_attn.weight") \
    X(O, o, LAYER, MATRIX, WIDTH, WIDTH, WIDTH, ALWAYS, 5, "attn.c_proj.weight") \
    X(W1, w1, LAYER, MATRIX, FEEDFORWARD, WIDTH, WIDTH, ALWAYS, 6, "mlp.c_fc.weight") \
    X(W2, w2, LAYER, MATRIX, WIDTH, FEEDFORWARD, FEEDFORWARD, ALWAYS, 7, "mlp.c_proj.weight") \
    X(LN1, ln1, LAYER, GAIN, ONE, WIDTH, ONE, ALWAYS, 8, "ln_1.weight") \
    X(LN2, ln2, LAYER, GAIN, ONE, WIDTH, ONE, ALWAYS, 9, "ln_2.weight") \
    X(Q_BIAS, q_bias, LAYER, BIAS, ONE, WIDTH, WIDTH, WITH_BIAS, 10, "attn.c_attn.bias") \
    X(K_BIAS, k_bias, LAYER, BIAS, ONE, WIDTH, WIDTH, WITH_BIAS, 11, "attn.c_attn.bias") \
    X(V_BIAS, v_bias, LAYER, BIAS, ONE, WIDTH, WIDTH, WITH_BIAS, 12, "attn.c_attn.bias") \
    X(O_BIAS, o_bias, LAYER, BIAS, ONE, WIDTH, WIDTH, WITH_BIAS, 13, "attn.c_proj.bias") \
    X(W1_BIAS, w1_bias, LAYER, BIAS, ONE, FEEDFORWARD, WIDTH, WITH_BIAS, 14, "mlp.c_fc.bias") \
    X(W2_BIAS, w2_bias, LAYER, BIAS, ONE, WIDTH, FEEDFORWARD, WITH_BIAS, 15, "mlp.c_proj.bias") \
    X(LN1_BIAS, ln1_bias, LAYER, SHIFT, ONE, WIDTH, ONE, WITH_SHIFT, 16, "ln_1.bias") \
    X(LN2_BIAS, ln2_bias, LAYER, SHIFT, ONE, WIDTH, ONE, WITH_SHIFT, 17, "ln_2.bias") \
    X(W3, w3, LAYER, MATRIX, FEEDFORWARD, WIDTH, WIDTH, GATED, 22, NULL) \
    X(W3_BIAS, w3_bias, LAYER, BIAS, ONE, FEEDFORWARD, WIDTH, GATED_WITH_BIAS, 23, NULL) \
    X(FINAL, final, FINAL, GAIN, ONE, WIDTH, ONE, WITH_FINAL_NORM, 18, "ln_f.weight") \
    X(FINAL_BIAS, final_bias, FINAL, SHIFT, ONE, WIDTH, ONE, WITH_FINAL_SHIFT, 19, "ln_f.bias") \
    X(OUTPUT, output, OUTPUT, MATRIX, VOCABULARY, WIDTH, WIDTH, UNTIED, 20, "lm_head.weight") \
    X(OUTPUT_BIAS, output_bias, OUTPUT, BIAS, ONE, VOCABULARY, WIDTH, ALWAYS, 21, NULL)
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
    enum tensor_presence presence;
    uint64_t draw;
    const char *gpt2; /* or NULL */
};

extern const struct tensor_row tensor_table[TENSOR_KIND_COUNT];

/* The length in an architecture. */
int64_t extent_length(const struct architecture *architecture, enum tensor_extent extent);

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
    int64_t *layer_begin; /* [L + 1] of each layer, and the end of the last */
    int64_t tensor_count;
    struct tensor *tensor; /* [tensor_count], in memory order: absent tensors are listed with size 0 */
};

/* Index into weight_layout.tensor; layer is ignored outside the layers. */
int64_t tensor_index(const struct architecture *architecture, enum tensor_kind kind, int64_t layer);

/* Fills in the layout; its tables come from the arena. While the arena counts, only the sizes are set. */
void weight_layout_init(
    struct weight_layout *layout, const struct architecture *architecture, struct arena *arena);

/* Number of weights, embeddings and output included. */
int64_t architecture_parameters(const struct architecture *architecture);

/* Draws the initial weights, a function of (architecture, seed). A tensor's draws depend only on its kind and
 * layer. */
void weights_init(scalar *weights, const struct weight_layout *layout,
    const struct architecture *architecture, int64_t seed);

/* scaled = factor * weights over the whole plane, each rounded once. */
void weights_scale(const struct weight_layout *layout, scalar *scaled, const scalar *weights, double factor);

#endif
