/*
 * T5: an encoder and a decoder with rmsnorm and without biases, scores that are not scaled, and positions as
 * biases of scores, which the first block of each stack holds for all. A tied output layer divides its input
 * by the root of the width. Nothing bounds the length of a text.
 */
#include "driver/weights/t5.h"

#include <math.h>
#include <string.h>

#define ENCODER "encoder.block.#.layer."
#define DECODER "decoder.block.#.layer."

static const struct family_row rows[] = {
    {TENSOR_TOKEN, 0, "shared.weight", 0, 0},
    {TENSOR_RELATIVE, 0, "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 0, 0},
    {TENSOR_ENCODER_RELATIVE, 0, "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 0,
        0},
    {TENSOR_Q, 0, ENCODER "0.SelfAttention.q.weight", 0, 0},
    {TENSOR_K, 0, ENCODER "0.SelfAttention.k.weight", 0, 0},
    {TENSOR_V, 0, ENCODER "0.SelfAttention.v.weight", 0, 0},
    {TENSOR_O, 0, ENCODER "0.SelfAttention.o.weight", 0, 0},
    {TENSOR_LN1, 0, ENCODER "0.layer_norm.weight", 0, 0},
    {TENSOR_W1, IF_NOT_GATED, ENCODER "1.DenseReluDense.wi.weight", 0, 0},
    {TENSOR_W1, IF_GATED, ENCODER "1.DenseReluDense.wi_0.weight", 0, 0},
    {TENSOR_W3, IF_GATED, ENCODER "1.DenseReluDense.wi_1.weight", 0, 0},
    {TENSOR_W2, 0, ENCODER "1.DenseReluDense.wo.weight", 0, 0},
    {TENSOR_LN2, 0, ENCODER "1.layer_norm.weight", 0, 0},
    {TENSOR_Q, OF_DECODER, DECODER "0.SelfAttention.q.weight", 0, 0},
    {TENSOR_K, OF_DECODER, DECODER "0.SelfAttention.k.weight", 0, 0},
    {TENSOR_V, OF_DECODER, DECODER "0.SelfAttention.v.weight", 0, 0},
    {TENSOR_O, OF_DECODER, DECODER "0.SelfAttention.o.weight", 0, 0},
    {TENSOR_LN1, OF_DECODER, DECODER "0.layer_norm.weight", 0, 0},
    {TENSOR_CROSS_Q, OF_DECODER, DECODER "1.EncDecAttention.q.weight", 0, 0},
    {TENSOR_CROSS_K, OF_DECODER, DECODER "1.EncDecAttention.k.weight", 0, 0},
    {TENSOR_CROSS_V, OF_DECODER, DECODER "1.EncDecAttention.v.weight", 0, 0},
    {TENSOR_CROSS_O, OF_DECODER, DECODER "1.EncDecAttention.o.weight", 0, 0},
    {TENSOR_CROSS_LN, OF_DECODER, DECODER "1.layer_norm.weight", 0, 0},
    {TENSOR_W1, OF_DECODER | IF_NOT_GATED, DECODER "2.DenseReluDense.wi.weight", 0, 0},
    {TENSOR_W1, OF_DECODER | IF_GATED, DECODER "2.DenseReluDense.wi_0.weight", 0, 0},
    {TENSOR_W3, OF_DECODER | IF_GATED, DECODER "2.DenseReluDense.wi_1.weight", 0, 0},
    {TENSOR_W2, OF_DECODER, DECODER "2.DenseReluDense.wo.weight", 0, 0},
    {TENSOR_LN2, OF_DECODER, DECODER "2.layer_norm.weight", 0, 0},
    {TENSOR_FINAL, 0, "decoder.final_layer_norm.weight", 0, 0},
    {TENSOR_ENCODER_FINAL, 0, "encoder.final_layer_norm.weight", 0, 0},
    {TENSOR_OUTPUT, 0, "lm_head.weight", 0, 0},
    {.name = NULL},
};

/* The first files had a bias in cross-attention, which was never used. */
static const struct family_other others[] = {
    {"encoder.embed_tokens.weight", 0, true, TENSOR_TOKEN},
    {"decoder.embed_tokens.weight", 0, true, TENSOR_TOKEN},
    {.name = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"},
    {.name = NULL},
};

/* "relu", "gated-gelu", ...: the activation of "gated-gelu" alone is gelu_new. Files of the library also have
 * keys with what it makes of this one; they win. */
static void read_feedforward(struct config *config, struct architecture *a)
{
    static const struct {
        const char *word;
        bool gated;
        enum activation activation;
    } words[] = {
        {"relu", false, ACTIVATION_RELU},
        {"gelu", false, ACTIVATION_GELU},
        {"silu", false, ACTIVATION_SILU},
        {"gated-gelu", true, ACTIVATION_GELU_TANH},
        {"gated-silu", true, ACTIVATION_SILU},
        {"gated-relu", true, ACTIVATION_RELU},
    };
    const char *key = "feed_forward_proj", *word = config_word(config, key, words[0].word);
    size_t i = 0, count = sizeof(words) / sizeof(*words);
    char taken[CONFIG_WORDS_SIZE] = "";

    while (i < count && strcmp(words[i].word, word) != 0)
        i++;
    if (i == count) {
        for (i = 0; i < count; i++)
            config_add_word(taken, words[i].word, i, count);
        config_refuse(config, key, taken);
        return;
    }
    a->activation = config_activation(config, "dense_act_fn", words[i].activation);
    a->gated = config_true(config, "is_gated_act", words[i].gated);
}

static const struct config_key keys[] = {
    CONFIG_NEEDED("vocab_size", vocabulary, INT32_MAX),
    CONFIG_NEEDED("d_model", width, SIZE_MOST),
    CONFIG_NEEDED("d_kv", head_width, SIZE_MOST),
    CONFIG_NEEDED("d_ff", feedforward, SIZE_MOST),
    CONFIG_NEEDED("num_layers", layers, BLOCKS_MOST),
    CONFIG_SIZE("num_decoder_layers", decoder_layers, BLOCKS_MOST),
    CONFIG_NEEDED("num_heads", heads, SIZE_MOST),
    CONFIG_VALUE("layer_norm_epsilon", norm_epsilon),
    {.key = NULL},
};

static void read_t5(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    read_feedforward(config, a);
    config_only_whole(config, "relative_attention_num_buckets", RELATIVE_BUCKETS);
    config_only_whole(config, "relative_attention_max_distance", RELATIVE_REACH);
    config_only_true(config, "is_encoder_decoder", true);
    a->output_scale = properties->tied ? 1 / sqrt((double)a->width) : 0;
    properties->special = (struct special_tokens){
        .start = (int32_t)config_whole(config, "decoder_start_token_id", 0, a->vocabulary - 1, -1),
        .end = (int32_t)config_whole(config, "eos_token_id", 0, a->vocabulary - 1, -1),
        .padding = -1,
    };
}

const struct family family_t5 = {
    .model_type = "t5",
    .title = "T5",
    .prefix = "",
    .row = rows,
    .other = others,
    .initial =
        {
            .network = NETWORK_ENCODER_DECODER,
            .context = INT32_MAX,
            .norm_placement = NORM_PRE,
            .norm = RMSNORM,
            .norm_epsilon = 1e-6,
            .positions = POSITIONS_RELATIVE,
            .score_scale = SCORE_NONE,
        },
    .key = keys,
    .tied = true,
    .surely_tied = true,
    .read = read_t5,
};
