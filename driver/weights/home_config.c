#include "driver/weights/home_config.h"

#include "driver/weights/json.h"
#include "driver/weights/written_file.h"

#include <stdlib.h>
#include <string.h>

/* 1e-05 and not 1.0000000000000001e-05 */
#define FORM (JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15))

static const char *const activation_names[ACTIVATION_COUNT] = {
    [ACTIVATION_RELU] = "relu",
    [ACTIVATION_GELU] = "gelu",
    [ACTIVATION_GELU_TANH] = "gelu_new",
    [ACTIVATION_SILU] = "silu",
};

/* An object that is filled key by key. */
struct object {
    json_t *json; /* owned; NULL without memory */
    bool failed;
};

static void put(struct object *object, const char *key, json_t *value)
{
    if (json_object_set_new(object->json, key, value) < 0)
        object->failed = true;
}

static void put_integer(struct object *object, const char *key, int64_t value)
{
    put(object, key, json_integer(value));
}

static void put_real(struct object *object, const char *key, double value)
{
    put(object, key, json_real(value));
}

static void put_text(struct object *object, const char *key, const char *value)
{
    put(object, key, json_string(value));
}

static void put_gpt2(struct object *object, const struct architecture *a)
{
    put_integer(object, "n_positions", a->context);
    put_integer(object, "n_embd", a->width);
    put_integer(object, "n_layer", a->layers);
    put_integer(object, "n_head", a->heads);
    put_integer(object, "n_inner", a->feedforward);
    put_text(object, "activation_function", activation_names[a->activation]);
    put_real(object, "layer_norm_epsilon", architecture_norm_epsilon(a));
    put_real(object, "attn_pdrop", 0);
    put_real(object, "embd_pdrop", 0);
    put_real(object, "resid_pdrop", 0);
    put(object, "scale_attn_weights", json_true());
    put(object, "scale_attn_by_inverse_layer_idx", json_false());
}

static void put_llama(struct object *object, const struct architecture *a)
{
    put_integer(object, "max_position_embeddings", a->context);
    put_integer(object, "hidden_size", a->width);
    put_integer(object, "num_hidden_layers", a->layers);
    put_integer(object, "num_attention_heads", a->heads);
    put_integer(object, "num_key_value_heads", architecture_kv_heads(a));
    put_integer(object, "head_dim", architecture_depth(a));
    put_integer(object, "intermediate_size", a->feedforward);
    put_text(object, "hidden_act", activation_names[a->activation]);
    put_real(object, "rms_norm_eps", architecture_norm_epsilon(a));
    put_real(object, "rope_theta", a->rotary_base != 0 ? a->rotary_base : 10000);
    put_real(object, "attention_dropout", 0);
    put(object, "attention_bias", json_boolean(a->biases & BIAS_QKV));
    put(object, "mlp_bias", json_boolean(a->biases & BIAS_FEEDFORWARD));
}

static void (*const put_home[HOME_COUNT])(struct object *object, const struct architecture *a) = {
    [HOME_GPT2] = put_gpt2,
    [HOME_LLAMA] = put_llama,
};

/* A token that both begins and ends texts, as in GPT-2; null if the corpus has none. */
static json_t *token(int32_t id)
{
    return id < 0 ? json_null() : json_integer(id);
}

static void put_all(struct object *object, const struct saved *saved, enum home home)
{
    put(object, "architectures", json_pack("[s]", home_table[home].class));
    put_text(object, "model_type", home_table[home].family->model_type);
    put_text(object, "torch_dtype", saved->is_double ? "float64" : "float32");
    put_integer(object, "vocab_size", saved->architecture.vocabulary);
    put(object, "bos_token_id", token(saved->end_of_line));
    put(object, "eos_token_id", token(saved->end_of_line));
    put(object, "tie_word_embeddings", json_boolean(saved->architecture.tied));
    put_home[home](object, &saved->architecture);
}

/* The text, which the caller frees; NULL without memory. */
static char *config_text(const struct saved *saved, enum home home)
{
    struct object object = {.json = json_object()};

    put_all(&object, saved, home);
    char *text = object.failed ? NULL : json_dumps(object.json, FORM);
    json_decref(object.json);
    return text;
}

int home_config_write(const char *path, const struct saved *saved, enum home home, struct error *error)
{
    char *text = config_text(saved, home);
    struct written_file file;
    int status = -1;

    if (!text)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    if (written_file_open(&file, path, error) == 0) {
        status = written_file_put(&file, text, strlen(text), error);
        if (status == 0)
            status = written_file_put(&file, "\n", 1, error);
        status = written_file_close(&file, status, error);
    }
    free(text);
    return status;
}
