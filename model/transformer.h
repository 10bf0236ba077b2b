#ifndef NORMSWEEP_MODEL_TRANSFORMER_H
#define NORMSWEEP_MODEL_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/scalar.h"

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

/* Sequences packed one after another: no padding exists. rows = the sum of their lengths. */
struct batch {
    int64_t sequences, rows;
    int64_t *start; /* [sequences + 1] first row of each; start[sequences] == rows */
    int32_t *tokens; /* [rows] */
    int32_t *target; /* [rows] */
};

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
