/*
 * GPT-2. Its linear layers are stored as [in, out]; queries, keys and values lie side by side. Old files have
 * no config.json beside them: the shapes of the tensors say everything but the number of heads.
 */
#include "driver/weights/gpt2.h"

#define HEADS "n_head"

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

static const struct config_key keys[] = {
    CONFIG_SIZE("vocab_size", vocabulary, INT32_MAX),
    CONFIG_SIZE("n_positions", context, INT32_MAX),
    CONFIG_SIZE("n_embd", width, SIZE_MOST),
    CONFIG_SIZE("n_layer", layers, BLOCKS_MOST),
    CONFIG_SIZE(HEADS, heads, SIZE_MOST),
    CONFIG_SIZE("n_inner", feedforward, SIZE_MOST),
    CONFIG_VALUE("activation_function", activation),
    CONFIG_VALUE("layer_norm_epsilon", norm_epsilon),
    CONFIG_VALUE("scale_attn_weights", score_scale),
    {.key = NULL},
};

static void read_gpt2(struct config *config, struct properties *properties)
{
    (void)properties;
    config_only_true(config, "scale_attn_by_inverse_layer_idx", false);
    config_only_true(config, "add_cross_attention", false);
}

const struct family family_gpt2 = {
    .model_type = "gpt2",
    .title = "GPT-2",
    .prefix = "transformer.",
    .row = rows,
    .other = others,
    .initial =
        {
            .norm_placement = NORM_PRE,
            .positions = POSITIONS_LEARNED,
            .biases = BIAS_LAYERS,
            .activation = ACTIVATION_GELU_TANH,
            .norm_epsilon = 1e-5,
        },
    .key = keys,
    .tied = true,
    .sized_by_tensors = true,
    .heads_key = HEADS,
    .read = read_gpt2,
};
