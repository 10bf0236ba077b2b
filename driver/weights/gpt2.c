/*
 * GPT-2. Its linear layers are stored as [in, out]; queries, keys and values lie side by side. Old files have
 * no config.json beside them: the shapes of the tensors say everything but the number of heads.
 */
#include "driver/weights/gpt2.h"

static const struct family_row rows[] = {
    {TENSOR_TOKEN, 0, "wte.weight", 0, 0},
    {TENSOR_POSITION, 0, "wpe.weight", 0, 0},
    {TENSOR_Q, IN_OUT, "h.#.attn.c_attn.weight", 0, 3},
    {TENSOR_K, IN_OUT, "h.#.attn.c_attn.weight", 1, 3},
    {TENSOR_V, IN_OUT, "h.#.attn.c_attn.weight", 2, 3},
    {TENSOR_O, IN_OUT, "h.#.attn.c_proj.weight", 0, 0},
    {TENSOR_W1, IN_OUT, "h.#.mlp.c_fc.weight", 0, 0},
    {TENSOR_W2, IN_OUT, "h.#.mlp.c_proj.weight", 0, 0},
    {TENSOR_LN1, 0, "h.#.ln_1.weight", 0, 0},
    {TENSOR_LN2, 0, "h.#.ln_2.weight", 0, 0},
    {TENSOR_Q_BIAS, 0, "h.#.attn.c_attn.bias", 0, 3},
    {TENSOR_K_BIAS, 0, "h.#.attn.c_attn.bias", 1, 3},
    {TENSOR_V_BIAS, 0, "h.#.attn.c_attn.bias", 2, 3},
    {TENSOR_O_BIAS, 0, "h.#.attn.c_proj.bias", 0, 0},
    {TENSOR_W1_BIAS, 0, "h.#.mlp.c_fc.bias", 0, 0},
    {TENSOR_W2_BIAS, 0, "h.#.mlp.c_proj.bias", 0, 0},
    {TENSOR_LN1_BIAS, 0, "h.#.ln_1.bias", 0, 0},
    {TENSOR_LN2_BIAS, 0, "h.#.ln_2.bias", 0, 0},
    {TENSOR_FINAL, 0, "ln_f.weight", 0, 0},
    {TENSOR_FINAL_BIAS, 0, "ln_f.bias", 0, 0},
    {TENSOR_OUTPUT, OUTSIDE, "lm_head.weight", 0, 0},
    {.name = NULL},
};

/* Masks, which are not parameters. */
static const struct family_other others[] = {
    {.name = "h.#.attn.bias"},
    {.name = "h.#.attn.masked_bias"},
    {.name = NULL},
};

static void read_gpt2(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    a->norm_placement = NORM_PRE;
    a->positions = POSITIONS_LEARNED;
    a->biases = BIAS_LAYERS;
    a->vocabulary = config_whole(config, "vocab_size", 1, INT32_MAX, a->vocabulary);
    a->context = config_whole(config, "n_positions", 1, INT32_MAX, a->context);
    a->width = config_whole(config, "n_embd", 1, SIZE_MOST, a->width);
    a->layers = config_whole(config, "n_layer", 1, BLOCKS_MOST, a->layers);
    a->heads = config_whole(config, "n_head", 1, SIZE_MOST, 0);
    a->feedforward = config_whole(config, "n_inner", 1, SIZE_MOST, a->feedforward);
    a->activation = config_activation(config, "activation_function", ACTIVATION_GELU_TANH);
    a->norm_epsilon = config_positive(config, "layer_norm_epsilon", 1e-5);
    a->score_scale = config_true(config, "scale_attn_weights", true) ? SCORE_SQRT : SCORE_NONE;
    config_only_true(config, "scale_attn_by_inverse_layer_idx", false);
    config_only_true(config, "add_cross_attention", false);
    properties->tied = config_true(config, "tie_word_embeddings", true);
    properties->surely_tied = config_has(config, "tie_word_embeddings") && properties->tied;
}

const struct family family_gpt2 = {
    .model_type = "gpt2",
    .title = "GPT-2",
    .prefix = "transformer.",
    .row = rows,
    .other = others,
    .sized_by_tensors = true,
    .heads_key = "n_head",
    .read = read_gpt2,
};
