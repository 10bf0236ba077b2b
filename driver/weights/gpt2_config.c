/* Reads config.json, which Hugging Face writes beside the weights. */
#include "driver/weights/gpt2.h"

#include "driver/output/mapped_file.h"
#include "driver/text/utf8.h"
#include "driver/weights/gpt2_config.h"
#include "driver/weights/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_MOST = 1 << 20 }; /* bytes */

static bool take_heads(struct gpt2_config *config, const json_t *value)
{
    config->heads = json_integer_value(value);
    return json_is_integer(value) && config->heads >= 1 && config->heads <= INT32_MAX;
}

static bool take_activation(struct gpt2_config *config, const json_t *value)
{
    static const struct {
        const char *name;
        enum activation activation;
    } words[] = {{"gelu_new", ACTIVATION_GELU_TANH}, {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
        {"gelu", ACTIVATION_GELU}, {"relu", ACTIVATION_RELU}};

    for (size_t i = 0; json_is_string(value) && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].name, json_string_value(value)) == 0) {
            config->activation = words[i].activation;
            return true;
        }
    }
    return false;
}

static bool take_epsilon(struct gpt2_config *config, const json_t *value)
{
    (void)config;
    return json_is_number(value) && fabs(json_number_value(value) - 1e-5) <= 1e-12;
}

static bool take_true(struct gpt2_config *config, const json_t *value)
{
    (void)config;
    return json_is_true(value);
}

static bool take_false(struct gpt2_config *config, const json_t *value)
{
    (void)config;
    return json_is_false(value);
}

static bool take_type(struct gpt2_config *config, const json_t *value)
{
    (void)config;
    return json_is_string(value) && strcmp(json_string_value(value), "gpt2") == 0;
}

/* The keys that are read. Sizes come from the tensors; the other keys do not change the forward pass. */
static const struct {
    const char *key;
    bool (*take)(struct gpt2_config *config, const json_t *value);
    const char *taken;
} keys[] = {
    {"model_type", take_type, "gpt2"},
    {"n_head", take_heads, "a whole number from 1 on"},
    {"activation_function", take_activation, "gelu_new, gelu_pytorch_tanh, gelu or relu"},
    {"layer_norm_epsilon", take_epsilon, "1e-05"},
    {"scale_attn_weights", take_true, "true"},
    {"scale_attn_by_inverse_layer_idx", take_false, "false"},
};

static int refuse(const char *key, const json_t *value, const char *taken, struct error *error)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    char excerpt[EXCERPT_SIZE];

    error_set(error, ERROR_INPUT, "%s: %s is not %s", key, place_excerpt(text ? text : "", excerpt), taken);
    free(text);
    return -1;
}

static int take_keys(struct gpt2_config *config, const json_t *root, struct error *error)
{
    if (!json_is_object(root))
        return error_set(error, ERROR_INPUT, "not an object");
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const json_t *value = json_object_get(root, keys[i].key);
        if (value && !json_is_null(value) && !keys[i].take(config, value))
            return refuse(keys[i].key, value, keys[i].taken, error);
    }
    return 0;
}

static int parse(
    struct gpt2_config *config, const char *path, const struct mapped_file *file, struct error *error)
{
    const char *text = file->bytes ? (const char *)file->bytes : "";
    size_t size = file->size;
    struct place fault = PLACE_DEFAULT;

    if (file->size > CONFIG_MOST)
        return error_set(error, ERROR_INPUT, "%s: larger than %d bytes", path, CONFIG_MOST);
    json_t *root = utf8_begin(&text, &size, error) == 0 ? json_read(text, size, &fault, error) : NULL;
    if (!root)
        return place_prefix(error, path, fault);
    int status = take_keys(config, root, error);
    json_decref(root);
    if (status == 0)
        return 0;
    error_prefix(error, "%s", path);
    return place_clean(error);
}

int gpt2_config_read(struct gpt2_config *config, const char *weights, struct error *error)
{
    const char *slash = strrchr(weights, '/');
    struct mapped_file file;
    char *path;

    *config = (struct gpt2_config){.activation = ACTIVATION_GELU_TANH};
    if (asprintf(&path, "%.*sconfig.json", slash ? (int)(slash - weights) + 1 : 0, weights) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", weights);
    int status = 0;
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        status = mapped_file_open(&file, path, error);
        if (status == 0) {
            status = parse(config, path, &file, error);
            mapped_file_close(&file);
        }
    }
    free(path);
    return status;
}
