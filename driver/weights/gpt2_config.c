/* config.json, as Hugging Face writes it beside the weights. */
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

/* What a key of the file says, or why it cannot be so. */
typedef int take_function(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE]);

static int take_heads(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    char *end;
    long long heads = strtoll(text, &end, 10);

    config->heads = heads;
    snprintf(why, EXCERPT_SIZE, "a whole number from 1 on is taken");
    return heads >= 1 && heads <= INT32_MAX && !*end ? 0 : -1;
}

static int take_activation(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    static const struct {
        const char *name;
        enum activation activation;
    } words[] = {{"gelu_new", ACTIVATION_GELU_TANH}, {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
        {"gelu", ACTIVATION_GELU}, {"relu", ACTIVATION_RELU}};

    snprintf(why, EXCERPT_SIZE, "gelu_new, gelu_pytorch_tanh, gelu and relu are taken");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].name, text) == 0) {
            config->activation = words[i].activation;
            return 0;
        }
    }
    return -1;
}

static int take_epsilon(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    char *end;
    double epsilon = strtod(text, &end);

    (void)config;
    snprintf(why, EXCERPT_SIZE, "only 1e-05 is taken");
    return !*end && fabs(epsilon - 1e-5) <= 1e-12 ? 0 : -1;
}

static int take_true(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    (void)config;
    snprintf(why, EXCERPT_SIZE, "only true is taken");
    return strcmp(text, "true") == 0 ? 0 : -1;
}

static int take_false(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    (void)config;
    snprintf(why, EXCERPT_SIZE, "only false is taken");
    return strcmp(text, "false") == 0 ? 0 : -1;
}

static int take_type(struct gpt2_config *config, const char *text, char why[EXCERPT_SIZE])
{
    (void)config;
    snprintf(why, EXCERPT_SIZE, "only gpt2 is taken");
    return strcmp(text, "gpt2") == 0 ? 0 : -1;
}

/* The keys that matter here; the tensors say the sizes, and the rest changes no forward pass. */
static const struct {
    const char *key;
    take_function *take;
} keys[] = {
    {"model_type", take_type},
    {"n_head", take_heads},
    {"activation_function", take_activation},
    {"layer_norm_epsilon", take_epsilon},
    {"scale_attn_weights", take_true},
    {"scale_attn_by_inverse_layer_idx", take_false},
};

static int take_pair(struct gpt2_config *config, const char *path, const struct node *key,
    const struct node *value, struct error *error)
{
    char why[EXCERPT_SIZE], excerpt[EXCERPT_SIZE];

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(keys[i].key, key->text) != 0 || node_is_null(value))
            continue;
        const char *text = value->kind == NODE_SCALAR ? value->text : "";
        if (keys[i].take(config, text, why) < 0)
            return place_error(
                error, path, value->place, "%s: '%s'; %s", key->text, place_excerpt(text, excerpt), why);
    }
    return 0;
}

static int parse(
    struct gpt2_config *config, const char *path, const struct mapped_file *file, struct error *error)
{
    const char *text = file->bytes ? (const char *)file->bytes : "";
    size_t size = file->size;
    struct place fault = PLACE_DEFAULT;
    struct node root = {0};

    if (file->size > CONFIG_MOST)
        return error_set(error, ERROR_INPUT, "%s: larger than %d bytes", path, CONFIG_MOST);
    int status = utf8_begin(&text, &size, error);
    if (status == 0)
        status = json_read(&root, text, size, &fault, error);
    if (status == 0 && root.kind != NODE_MAP)
        status = error_set(error, ERROR_INPUT, "no object");
    if (status < 0)
        place_prefix(error, path, fault);
    for (int64_t i = 0; status == 0 && i < root.count; i++)
        status = take_pair(config, path, &root.key[i], &root.child[i], error);
    node_release(&root);
    return status;
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
