/*
 * XLNet as it reads a text: an encoder whose scores have a second part, of the query and the key of their
 * distance. Its loss predicts words from a second stream of states, which do not see them; this program has
 * one stream, so that the output layer is not read. Nor are segments, which a plain text does not have.
 */
#include "driver/weights/xlnet.h"

#define LAYER "layer.#."

static const struct family_row rows[] = {
    {TENSOR_TOKEN, 0, "word_embedding.weight", 0, 0},
    {TENSOR_Q, IN_OUT | BY_HEADS, LAYER "rel_attn.q", 0, 0},
    {TENSOR_K, IN_OUT | BY_HEADS, LAYER "rel_attn.k", 0, 0},
    {TENSOR_V, IN_OUT | BY_HEADS, LAYER "rel_attn.v", 0, 0},
    {TENSOR_O, BY_HEADS, LAYER "rel_attn.o", 0, 0},
    {TENSOR_W1, 0, LAYER "ff.layer_1.weight", 0, 0},
    {TENSOR_W2, 0, LAYER "ff.layer_2.weight", 0, 0},
    {TENSOR_LN1, 0, LAYER "rel_attn.layer_norm.weight", 0, 0},
    {TENSOR_LN2, 0, LAYER "ff.layer_norm.weight", 0, 0},
    {TENSOR_W1_BIAS, 0, LAYER "ff.layer_1.bias", 0, 0},
    {TENSOR_W2_BIAS, 0, LAYER "ff.layer_2.bias", 0, 0},
    {TENSOR_LN1_BIAS, 0, LAYER "rel_attn.layer_norm.bias", 0, 0},
    {TENSOR_LN2_BIAS, 0, LAYER "ff.layer_norm.bias", 0, 0},
    {TENSOR_DISTANCE, IN_OUT | BY_HEADS, LAYER "rel_attn.r", 0, 0},
    {TENSOR_CONTENT_BIAS, BY_HEADS, LAYER "rel_attn.r_w_bias", 0, 0},
    {TENSOR_DISTANCE_BIAS, BY_HEADS, LAYER "rel_attn.r_r_bias", 0, 0},
    {.name = NULL},
};

static const struct family_other others[] = {
    {.name = "mask_emb"},
    {.name = LAYER "rel_attn.r_s_bias"},
    {.name = LAYER "rel_attn.seg_embed"},
    {.name = "lm_loss.weight", .form = OUTSIDE},
    {.name = "lm_loss.bias", .form = OUTSIDE},
    {.name = NULL},
};

static const struct config_key keys[] = {
    CONFIG_NEEDED("vocab_size", vocabulary, INT32_MAX),
    CONFIG_NEEDED("d_model", width, SIZE_MOST),
    CONFIG_NEEDED("d_inner", feedforward, SIZE_MOST),
    CONFIG_NEEDED("n_layer", layers, BLOCKS_MOST),
    CONFIG_NEEDED("n_head", heads, SIZE_MOST),
    CONFIG_SIZE("d_head", head_width, SIZE_MOST),
    CONFIG_VALUE("ff_activation", activation),
    CONFIG_VALUE("layer_norm_eps", norm_epsilon),
    {.key = NULL},
};

/* untie_r says how files of TensorFlow are read; here every block has its biases. */
static void read_xlnet(struct config *config, struct properties *properties)
{
    if (properties->architecture.width % 2) /* sines and cosines of a distance, as many of each */
        config_refuse(config, "d_model", "an even number");
    config_only_word(config, "attn_type", "bi");
    config_only_true(config, "bi_data", false);
    config_whole(config, "clamp_len", -1, 0, -1); /* above 0, far distances would count as this one */
}

const struct family family_xlnet = {
    .model_type = "xlnet",
    .title = "XLNet",
    .prefix = "transformer.",
    .row = rows,
    .other = others,
    .initial =
        {
            .network = NETWORK_ENCODER,
            .context = INT32_MAX,
            .activation = ACTIVATION_GELU,
            .norm_epsilon = 1e-12,
            .norm_placement = NORM_POST,
            .positions = POSITIONS_DISTANCE,
            .biases = BIAS_FEEDFORWARD | BIAS_NORM,
        },
    .key = keys,
    .read = read_xlnet,
};
