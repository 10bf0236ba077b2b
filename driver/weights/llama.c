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

static const char kv_heads[] = "num_key_value_heads", rotary_base[] = "rope_theta";

/* clang-format off */
#define KEYS \
    CONFIG_NEEDED("vocab_size", vocabulary, INT32_MAX), \
    CONFIG_SIZE("max_position_embeddings", context, INT32_MAX), \
    CONFIG_NEEDED("hidden_size", width, SIZE_MOST), \
    CONFIG_NEEDED("intermediate_size", feedforward, SIZE_MOST), \
    CONFIG_NEEDED("num_hidden_layers", layers, BLOCKS_MOST), \
    CONFIG_NEEDED("num_attention_heads", heads, SIZE_MOST), \
    CONFIG_SIZE(kv_heads, kv_heads, SIZE_MOST), \
    CONFIG_SIZE("head_dim", head_width, SIZE_MOST), \
    CONFIG_VALUE("hidden_act", activation), \
    CONFIG_VALUE("rms_norm_eps", norm_epsilon), \
    CONFIG_VALUE(rotary_base, rotary_base)
#define ATTENTION_BIAS CONFIG_SWITCH("attention_bias", BIAS_QKV | BIAS_O)
/* clang-format on */

static const struct config_key keys[] = {KEYS, {.key = NULL}};
static const struct config_key olmo2_keys[] = {KEYS, ATTENTION_BIAS, {.key = NULL}};
static const struct config_key llama_keys[] = {
    KEYS, ATTENTION_BIAS, CONFIG_SWITCH("mlp_bias", BIAS_FEEDFORWARD), {.key = NULL}};

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

    /* The table takes any number above 0; angles must be finite. */
    a->rotary_base = config_real(config, rotary_base, 1, BASE_MOST, a->rotary_base);
    if (config_positive(config, "partial_rotary_factor", 1) != 1)
        config_refuse(config, "partial_rotary_factor", "1");
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        if (!config_enter(config, objects[i]))
            continue;
        a->rotary_base = config_real(config, rotary_base, 1, BASE_MOST, a->rotary_base);
        read_scaling(config, &a->rotary_scaling);
        config_leave(config);
    }
    if (architecture_depth(a) % 2)
        config_fail(config, "rotary positions need an even width of heads");
}

static void read_kin(struct config *config, struct properties *properties)
{
    struct architecture *a = &properties->architecture;

    if (config_is_null(config, kv_heads)) /* as many as heads, whatever the family takes without the key */
        a->kv_heads = 0;
    read_rotary(config, a);
}

/* A token attends to the last `sliding_window` ones: no difference in a window of so many. */
static void read_window(struct config *config, struct architecture *a)
{
    int64_t window = config_whole(
        config, "sliding_window", 1, INT32_MAX, config_is_null(config, "sliding_window") ? INT32_MAX : 4096);

    a->context = window < a->context ? window : a->context;
}

static void read_mistral(struct config *config, struct properties *properties)
{
    read_kin(config, properties);
    read_window(config, &properties->architecture);
    if (config_has(config, "rope_scaling") && properties->architecture.rotary_scaling.factor != 0)
        config_refuse(config, "rope_scaling", "null, which all versions of the library take alike");
}

static void read_qwen2(struct config *config, struct properties *properties)
{
    read_kin(config, properties);
    if (config_true(config, "use_sliding_window", false))
        read_window(config, &properties->architecture);
}

/* What they have in common; then what family and version of the library take where config.json is silent. */
#define KIN(word, its_title, its_rows, its_keys, its_read, ...)                                              \
    const struct family family_##word = {                                                                    \
        .model_type = #word,                                                                                 \
        .title = its_title,                                                                                  \
        .prefix = "model.",                                                                                  \
        .row = its_rows,                                                                                     \
        .other = others,                                                                                     \
        .initial = {.norm = RMSNORM,                                                                         \
            .positions = POSITIONS_ROTARY,                                                                   \
            .rotary_base = 10000,                                                                            \
            .gated = true,                                                                                   \
            .activation = ACTIVATION_SILU,                                                                   \
            __VA_ARGS__},                                                                                    \
        .key = its_keys,                                                                                     \
        .read = its_read,                                                                                    \
    }

KIN(llama, "Llama", rows, llama_keys, read_kin, .norm_placement = NORM_PRE, .norm_epsilon = 1e-6,
    .context = 2048);
KIN(mistral, "Mistral", rows, keys, read_mistral, .norm_placement = NORM_PRE, .norm_epsilon = 1e-6,
    .context = 131072, .kv_heads = 8);
KIN(qwen2, "Qwen2", rows, keys, read_qwen2, .norm_placement = NORM_PRE, .norm_epsilon = 1e-6,
    .context = 32768, .kv_heads = 32, .biases = BIAS_QKV);
KIN(olmo2, "OLMo 2", olmo2_rows, olmo2_keys, read_kin, .norm_placement = NORM_OUT, .norm_epsilon = 1e-5,
    .context = 2048, .final_norm = true, .qk_norm = QK_NORM_TOGETHER);
