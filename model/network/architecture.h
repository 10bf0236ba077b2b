#ifndef NORMSWEEP_MODEL_NETWORK_ARCHITECTURE_H
#define NORMSWEEP_MODEL_NETWORK_ARCHITECTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/kernels/kernels.h"
#include "model/layers/activation.h"
#include "model/layers/norm.h"
#include "model/layers/relative.h"
#include "model/layers/rotary.h"

/* The stacks of a network: a decoder sees the past, an encoder everything; an encoder-decoder has one of
 * each. */
enum network { NETWORK_DECODER, NETWORK_ENCODER, NETWORK_ENCODER_DECODER };

enum norm_placement { NORM_POST, NORM_PRE, NORM_OUT };
enum init { INIT_TORCH, INIT_XAVIER, INIT_NORMAL };

/* How a network knows the order of its tokens. */
enum positions {
    POSITIONS_LEARNED, /* an embedding of each position, added to that of the token */
    POSITIONS_SINUSOIDAL, /* the same, fixed: Vaswani et al. 2017 */
    POSITIONS_ROTARY, /* queries and keys are turned by angles in proportion to the position: Su et al. 2021
                       */
    POSITIONS_RELATIVE, /* a bias of each head on each score, by distance: Raffel et al. 2020 */
    POSITIONS_NONE,
    POSITIONS_DISTANCE, /* keys of each distance, made of its sinusoid: XLNet, Yang et al. 2019; forward only
                         */
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
    double z_loss; /* >= 0, of the trained loss: see transformer.h */

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

#endif
