/*
 * Llama and its kin: rotary positions, rmsnorm, a gated feed-forward layer, shared keys and values. They
 * differ in their biases and in where their norms are.
 */
#include "driver/weights/llama.h"

#include <string.h>

/* clang-format off */
#define ROWS \
    {TENSOR_TOKEN, 0, "embed_tokens.weight", 0, 0}, \
    {TENSOR_Q, 0, "layers.#.self_attn.q_proj.weight", 0, 0}, \
    {TENSOR_K, 0, "layers.#.self_attn.k_proj.weight", 0, 0}, \
    {TENSOR_V, 0, "layers.#.self_attn.v_proj.weight", 0, 0}, \
    {TENSOR_O, 0, "layers.#.self_attn.o_proj.weight", 0, 0}, \
    {TENSOR_W1, 0, "layers.#.mlp.gate_proj.weight", 0, 0}, \
    {TENSOR_W2, 0, "layers.#.mlp.down_proj.weight", 0, 0}, \
    {TENSOR_W3, 0, "layers.#.mlp.up_proj.weight", 0, 0}, \
    {TENSOR_Q_BIAS, 0, "layers.#.self_attn.q_proj.bias", 0, 0}, \
    {TENSOR_K_BIAS, 0, "layers.#.self_attn.k_proj.bias", 0, 0}, \
    {TENSOR_V_BIAS, 0, "layers.#.self_attn.v_proj.bias", 0, 0}, \
    {TENSOR_O_BIAS, 0, "layers.#.self_attn.o_proj.bias", 0, 0}, \
    {TENSOR_W1_BIAS, 0, "layers.#.mlp.gate_proj.bias", 0, 0}, \
    {TENSOR_W2_BIAS, 0, "layers.#.mlp.down_proj.bias", 0, 0}, \
    {TENSOR_W3_BIAS, 0, "layers.#.mlp.up_proj.bias", 0, 0}, \
    {TENSOR_FINAL, 0, "norm.weight", 0, 0}, \
    {TENSOR_OUTPUT, OUTSIDE, "lm_head.weight", 0, 0}
/* clang-format on */

static const struct family_row rows[] = {
    ROWS,
    {TENSOR_LN1, 0, "layers.#.input_layernorm.weight", 0, 0},
    {TENSOR_LN2, 0, "layers.#.post_attention_layernorm.weight", 0, 0},
    {.name = NULL},
};

/* OLMo 2 has its norms behind the sub-layers, and on all queries and keys of a token together. */
static const struct family_row olmo2_rows[] = {
    ROWS,
    {TENSOR_LN1, 0, "layers.#.post_attention_layernorm.weight", 0, 0},
    {TENSOR_LN2, 0, "layers.#.post_feedforward_layernorm.weight", 0, 0},
    {TENSOR_Q_NORM, 0, "layers.#.self_attn.q_norm.weight", 0, 0},
    {TENSOR_K_NORM, 0, "layers.#.self_attn.k_norm.weight", 0, 0},
    {.name = NULL},
};

/* Frequencies, which follow from the configuration. */
static const struct family_other others[] = {
    {.name = "layers.#.self_attn.rotary_emb.inv_freq"},
    {.name = "rotary_emb.inv_freq"},
    {.name = NULL},
};

/* Far beyond any model, and all angles are finite. The library warns of factors below 1. */
#define SCALE_MOST 1e6
#define BASE_MOST 1e12

/* What family and version of the library take for granted where config.json is silent. */
struct silent {
    int64_t context, kv_heads; /* kv_heads 0: as many as heads */
    double epsilon;
};

static void read_sizes(struct config *config, struct architecture *a, const struct silent *silent)
{
    a->vocabulary = config_size(config, "vocab_size", INT32_MAX);
    a->context = config_whole(config, "max_position_embeddings", 1, INT32_MAX, silent->context);
    a->width = config_size(config, "hidden_size", SIZE_MOST);
    a->feedforward = config_size(config, "intermediate_size", SIZE_MOST);
    a->layers = config_size(config, "num_hidden_layers", BLOCKS_MOST);
    a->heads = config_size(config, "num_attention_heads", SIZE_MOST);
    a->kv_heads = config_whole(config, "num_key_value_heads", 1, SIZE_MOST,
        config_is_null(config, "num_key_value_heads") ? 0 : silent->kv_heads);
    a->head_width = config_whole(config, "head_dim", 1, SIZE_MOST, 0);
}

/* The scaling of the angles: the keys of rope_scaling. */
static void read_scaling(struct config *config, struct rotary_scaling *scaling)
{
    const char *key = config_has(config, "type") ? "type" : "rope_type"; /* the older key wins */
    const char *type = config_word(config, key, "default");
    bool llama = strcmp(type, "llama3") == 0;

    if (strcmp(type, "default") == 0)
        return;
    if (!llama && strcmp(type, "linear") != 0)
        config_refuse(config, key, "default, linear or llama3");
    scaling->factor = config_real(config, "factor", 1, SCALE_MOST, 1);
    if (!llama)
        return;
    scaling->low = config_real(config, "low_freq_factor", 1 / SCALE_MOST, SCALE_MOST, 1);
    scaling->high = config_real(config, "high_freq_factor", 1 / SCALE_MOST, SCALE_MOST, 4);
    scaling->context = config_real(config, "original_max_position_embeddings", 1, INT32_MAX, 8192);
    if (!(scaling->high > scaling->low))
        config_refuse(config, "high_freq_factor", "above low_freq_factor");
}

static void read_rotary(struct config *config, struct architecture *a)
{
    static const char *const objects[] = {"rope_scaling", "rope_parameters"};

    a->positions = POSITIONS_ROTARY;
    a->rotary_base = config_real(config, "rope_theta", 1, BASE_MOST, 10000);
    if (config_positive(config, "partial_rotary_factor", 1) != 1)
        config_refuse(config, "partial_rotary_factor", "1");
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        if (!config_enter(config, objects[i]))
            continue;
        a->rotary_base = config_real(config, "rope_theta", 1, BASE_MOST, a->rotary_base);
        read_scaling(config, &a->rotary_scaling);
        config_leave(config);
    }
    if (architecture_depth(a) % 2)
        config_fail(config, "rotary positions need an even width of heads");
}

static void read_kin(struct config *config, struct properties *properties, const struct silent *silent)
{
    struct architecture *a = &properties->architecture;

    read_sizes(config, a, silent);
    read_rotary(config, a);
    a->norm_placement = NORM_PRE;
    a->norm = RMSNORM;
    a->norm_epsilon = config_positive(config, "rms_norm_eps", silent->epsilon);
    a->gated = true;
    a->activation = config_activation(config, "hidden_act", ACTIVATION_SILU);
    properties->tied = config_true(config, "tie_word_embeddings", false);
    properties->surely_tied = properties->tied;
}

/* A token attends to the last `sliding_window` ones: no difference in a window of so many. */
static void read_window(struct config *config, struct architecture *a)
{
    int64_t window = config_whole(
        config, "sliding_window", 1, INT32_MAX, config_is_null(config, "sliding_window") ? INT32_MAX : 4096);

    a->context = window < a->context ? window : a->context;
}

static void read_llama(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    read_kin(config, properties, &(struct silent){2048, 0, 1e-6});
    a->biases = (config_true(config, "attention_bias", false) ? BIAS_QKV | BIAS_O : 0) |
                (config_true(config, "mlp_bias", false) ? BIAS_FEEDFORWARD : 0);
}

static void read_mistral(struct config *config, struct properties *properties)
{
    read_kin(config, properties, &(struct silent){131072, 8, 1e-6});
    read_window(config, &properties->architecture);
    if (config_has(config, "rope_scaling") && properties->architecture.rotary_scaling.factor != 0)
        config_refuse(config, "rope_scaling", "null, which all versions of the library take alike");
}

static void read_qwen2(struct config *config, struct properties *properties)
{
    read_kin(config, properties, &(struct silent){32768, 32, 1e-6});
    properties->architecture.biases = BIAS_QKV;
    if (config_true(config, "use_sliding_window", false))
        read_window(config, &properties->architecture);
}

static void read_olmo2(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    read_kin(config, properties, &(struct silent){2048, 0, 1e-5});
    a->norm_placement = NORM_OUT;
    a->final_norm = true;
    a->qk_norm = QK_NORM_TOGETHER;
    a->biases = config_true(config, "attention_bias", false) ? BIAS_QKV | BIAS_O : 0;
}

#define KIN(word, its_title, its_rows)                                                                       \
    const struct family family_##word = {                                                                    \
        .model_type = #word,                                                                                 \
        .title = its_title,                                                                                  \
        .prefix = "model.",                                                                                  \
        .row = its_rows,                                                                                     \
        .other = others,                                                                                     \
        .read = read_##word,                                                                                 \
    }

KIN(llama, "Llama", rows);
KIN(mistral, "Mistral", rows);
KIN(qwen2, "Qwen2", rows);
KIN(olmo2, "OLMo 2", olmo2_rows);
