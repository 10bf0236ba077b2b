/*
 * BERT and RoBERTa: encoders with LayerNorm behind the residual sums and behind the embeddings. The layer
 * that predicts masked words is there in some files and not in others. All tokens are of the first type.
 */
#include "driver/weights/bert.h"

/* clang-format off */
#define LAYER "encoder.layer.#."
#define ROWS(position_form) \
    {TENSOR_TOKEN, 0, "embeddings.word_embeddings.weight", 0, 0}, \
    {TENSOR_POSITION, position_form, "embeddings.position_embeddings.weight", 0, 0}, \
    {TENSOR_TYPE, 0, "embeddings.token_type_embeddings.weight", 0, 0}, \
    {TENSOR_EMBEDDING_NORM, 0, "embeddings.LayerNorm.weight", 0, 0}, \
    {TENSOR_EMBEDDING_NORM_BIAS, 0, "embeddings.LayerNorm.bias", 0, 0}, \
    {TENSOR_Q, 0, LAYER "attention.self.query.weight", 0, 0}, \
    {TENSOR_K, 0, LAYER "attention.self.key.weight", 0, 0}, \
    {TENSOR_V, 0, LAYER "attention.self.value.weight", 0, 0}, \
    {TENSOR_O, 0, LAYER "attention.output.dense.weight", 0, 0}, \
    {TENSOR_W1, 0, LAYER "intermediate.dense.weight", 0, 0}, \
    {TENSOR_W2, 0, LAYER "output.dense.weight", 0, 0}, \
    {TENSOR_LN1, 0, LAYER "attention.output.LayerNorm.weight", 0, 0}, \
    {TENSOR_LN2, 0, LAYER "output.LayerNorm.weight", 0, 0}, \
    {TENSOR_Q_BIAS, 0, LAYER "attention.self.query.bias", 0, 0}, \
    {TENSOR_K_BIAS, 0, LAYER "attention.self.key.bias", 0, 0}, \
    {TENSOR_V_BIAS, 0, LAYER "attention.self.value.bias", 0, 0}, \
    {TENSOR_O_BIAS, 0, LAYER "attention.output.dense.bias", 0, 0}, \
    {TENSOR_W1_BIAS, 0, LAYER "intermediate.dense.bias", 0, 0}, \
    {TENSOR_W2_BIAS, 0, LAYER "output.dense.bias", 0, 0}, \
    {TENSOR_LN1_BIAS, 0, LAYER "attention.output.LayerNorm.bias", 0, 0}, \
    {TENSOR_LN2_BIAS, 0, LAYER "output.LayerNorm.bias", 0, 0}
/* clang-format on */

static const struct family_row bert_rows[] = {
    ROWS(0),
    {TENSOR_TRANSFORM, OUTSIDE, "cls.predictions.transform.dense.weight", 0, 0},
    {TENSOR_TRANSFORM_BIAS, OUTSIDE, "cls.predictions.transform.dense.bias", 0, 0},
    {TENSOR_TRANSFORM_NORM, OUTSIDE, "cls.predictions.transform.LayerNorm.weight", 0, 0},
    {TENSOR_TRANSFORM_NORM_BIAS, OUTSIDE, "cls.predictions.transform.LayerNorm.bias", 0, 0},
    {TENSOR_OUTPUT, OUTSIDE, "cls.predictions.decoder.weight", 0, 0},
    {TENSOR_OUTPUT_BIAS, OUTSIDE, "cls.predictions.bias", 0, 0},
    {.name = NULL},
};

static const struct family_row roberta_rows[] = {
    ROWS(PADDED),
    {TENSOR_TRANSFORM, OUTSIDE, "lm_head.dense.weight", 0, 0},
    {TENSOR_TRANSFORM_BIAS, OUTSIDE, "lm_head.dense.bias", 0, 0},
    {TENSOR_TRANSFORM_NORM, OUTSIDE, "lm_head.layer_norm.weight", 0, 0},
    {TENSOR_TRANSFORM_NORM_BIAS, OUTSIDE, "lm_head.layer_norm.bias", 0, 0},
    {TENSOR_OUTPUT, OUTSIDE, "lm_head.decoder.weight", 0, 0},
    {TENSOR_OUTPUT_BIAS, OUTSIDE, "lm_head.bias", 0, 0},
    {.name = NULL},
};

/* The numbers 0, 1, ..., the pooler of the first token, and what tells whether two sentences are neighbours.
 */
#define OTHERS                                                                                               \
    {.name = "embeddings.position_ids"}, {.name = "embeddings.token_type_ids"},                              \
        {.name = "pooler.dense.weight"},                                                                     \
    {                                                                                                        \
        .name = "pooler.dense.bias"                                                                          \
    }

static const struct family_other bert_others[] = {
    OTHERS,
    {.name = "cls.seq_relationship.weight", .form = OUTSIDE},
    {.name = "cls.seq_relationship.bias", .form = OUTSIDE},
    {"cls.predictions.decoder.bias", OUTSIDE, true, TENSOR_OUTPUT_BIAS},
    {.name = NULL},
};

static const struct family_other roberta_others[] = {
    OTHERS,
    {"lm_head.decoder.bias", OUTSIDE, true, TENSOR_OUTPUT_BIAS},
    {.name = NULL},
};

static const char positions[] = "max_position_embeddings";

static const struct config_key keys[] = {
    CONFIG_NEEDED("vocab_size", vocabulary, INT32_MAX),
    CONFIG_SIZE(positions, context, INT32_MAX),
    CONFIG_SIZE("type_vocab_size", token_types, SIZE_MOST),
    CONFIG_NEEDED("hidden_size", width, SIZE_MOST),
    CONFIG_NEEDED("intermediate_size", feedforward, SIZE_MOST),
    CONFIG_NEEDED("num_hidden_layers", layers, BLOCKS_MOST),
    CONFIG_NEEDED("num_attention_heads", heads, SIZE_MOST),
    CONFIG_VALUE("hidden_act", activation),
    CONFIG_VALUE("layer_norm_eps", norm_epsilon),
    {.key = NULL},
};

#define INITIAL                                                                                              \
    {                                                                                                        \
        .network = NETWORK_ENCODER, .context = 512, .token_types = 2, .activation = ACTIVATION_GELU,         \
        .norm_epsilon = 1e-12, .norm_placement = NORM_POST, .embedding_norm = true,                          \
        .positions = POSITIONS_LEARNED, .biases = BIAS_ALL, .transform = true                                \
    }

static void read_encoder(struct config *config, struct properties *properties)
{
    (void)properties;
    config_only_word(config, "position_embedding_type", "absolute");
    config_only_true(config, "is_decoder", false);
    config_only_true(config, "add_cross_attention", false);
}

/* Positions begin behind the number of the padding token. The layer that predicts has gelu, whatever the
 * blocks have. */
static void read_roberta(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    read_encoder(config, properties);
    properties->special.padding = (int32_t)config_whole(config, "pad_token_id", 0, SIZE_MOST, 1);
    properties->padding = properties->special.padding + 1;
    a->context -= properties->padding;
    if (a->context < 1)
        config_refuse(config, positions, "above pad_token_id + 1");
    properties->gelu_transform = true;
}

const struct family family_bert = {
    .model_type = "bert",
    .title = "BERT",
    .prefix = "bert.",
    .row = bert_rows,
    .other = bert_others,
    .initial = INITIAL,
    .key = keys,
    .tied = true,
    .read = read_encoder,
};

const struct family family_roberta = {
    .model_type = "roberta",
    .title = "RoBERTa",
    .prefix = "roberta.",
    .row = roberta_rows,
    .other = roberta_others,
    .initial = INITIAL,
    .key = keys,
    .tied = true,
    .read = read_roberta,
};
