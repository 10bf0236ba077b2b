/* Reads config.json, which Hugging Face writes beside the weights. */
#include "driver/weights/config.h"

#include "driver/text/place.h"
#include "driver/weights/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words of activations; those of one kind differ in rounding alone, and the first of them is written. */
static const struct {
    const char *word;
    enum activation activation;
} activations[] = {
    {"gelu", ACTIVATION_GELU},
    {"gelu_python", ACTIVATION_GELU},
    {"gelu_new", ACTIVATION_GELU_TANH},
    {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
    {"gelu_fast", ACTIVATION_GELU_TANH},
    {"silu", ACTIVATION_SILU},
    {"swish", ACTIVATION_SILU},
    {"relu", ACTIVATION_RELU},
};

enum { ACTIVATION_WORDS = sizeof(activations) / sizeof(*activations) };

int config_open(struct config *config, char *path, struct error *error)
{
    *config = (struct config){.path = path, .error = error};
    if (!path)
        return error_set(error, ERROR_ENVIRONMENT, "no memory");
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    config->root = json_read_file(path, error);
    config->object = config->root;
    if (config->root && !json_is_object(config->root))
        config_fail(config, "not an object");
    if (config->root && !config->failed)
        return 0;
    config_close(config);
    return -1;
}

void config_close(struct config *config)
{
    json_decref(config->root);
    free(config->path);
    *config = (struct config){0};
}

void config_fail(struct config *config, const char *format, ...)
{
    va_list arguments;
    char text[sizeof(config->error->text)];

    if (config->failed)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    config->failed = true;
    error_set(config->error, ERROR_INPUT, "%s: %s%s%s", config->path, config->within ? config->within : "",
        config->within ? ": " : "", text);
}

void config_refuse(struct config *config, const char *key, const char *taken)
{
    const json_t *value = json_object_get(config->object, key);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    char excerpt[EXCERPT_SIZE];

    config_fail(config, "%s: %s is not %s", key, place_excerpt(text ? text : "", excerpt), taken);
    free(text);
}

/* The value of a key; NULL: absent or null. */
static const json_t *value_of(const struct config *config, const char *key)
{
    const json_t *value = json_object_get(config->object, key);

    return json_is_null(value) ? NULL : value;
}

bool config_has(const struct config *config, const char *key)
{
    return value_of(config, key) != NULL;
}

bool config_is_null(const struct config *config, const char *key)
{
    return json_is_null(json_object_get(config->object, key));
}

int64_t config_whole(struct config *config, const char *key, int64_t least, int64_t most, int64_t initial)
{
    const json_t *value = value_of(config, key);
    int64_t number = json_integer_value(value);
    char taken[96];

    if (!value)
        return initial;
    if (json_is_integer(value) && number >= least && number <= most)
        return number;
    if (json_is_integer(value) && number > most)
        snprintf(taken, sizeof(taken), "a whole number up to %" PRId64, most);
    else
        snprintf(taken, sizeof(taken), "a whole number from %" PRId64 " on", least);
    config_refuse(config, key, taken);
    return initial;
}

int64_t config_size(struct config *config, const char *key, int64_t most)
{
    if (!value_of(config, key))
        config_fail(config, "%s is missing", key);
    return config_whole(config, key, 1, most, 1);
}

double config_positive(struct config *config, const char *key, double initial)
{
    const json_t *value = value_of(config, key);
    double number = json_number_value(value);

    if (!value)
        return initial;
    if (json_is_number(value) && number > 0 && isfinite(number))
        return number;
    config_refuse(config, key, "a number above 0");
    return initial;
}

double config_real(struct config *config, const char *key, double least, double most, double initial)
{
    const json_t *value = value_of(config, key);
    double number = json_number_value(value);
    char taken[64];

    if (!value || (json_is_number(value) && number >= least && number <= most))
        return value ? number : initial;
    snprintf(taken, sizeof(taken), "a number from %g to %g", least, most);
    config_refuse(config, key, taken);
    return initial;
}

bool config_true(struct config *config, const char *key, bool initial)
{
    const json_t *value = value_of(config, key);

    if (value && !json_is_boolean(value))
        config_refuse(config, key, "true or false");
    return value ? json_is_true(value) : initial;
}

const char *config_word(struct config *config, const char *key, const char *initial)
{
    const json_t *value = value_of(config, key);

    if (value && !json_is_string(value))
        config_refuse(config, key, "a word");
    return json_is_string(value) ? json_string_value(value) : initial;
}

void config_add_word(char text[CONFIG_WORDS_SIZE], const char *word, size_t index, size_t count)
{
    const char *between = index == 0 ? "" : index == count - 1 ? " or " : ", ";
    size_t used = strlen(text);

    snprintf(text + used, CONFIG_WORDS_SIZE - used, "%s%s", between, word);
}

static void refuse_activation(struct config *config, const char *key)
{
    char taken[CONFIG_WORDS_SIZE] = "";

    for (size_t i = 0; i < ACTIVATION_WORDS; i++)
        config_add_word(taken, activations[i].word, i, ACTIVATION_WORDS);
    config_refuse(config, key, taken);
}

enum activation config_activation(struct config *config, const char *key, enum activation initial)
{
    const json_t *value = value_of(config, key);

    if (!value)
        return initial;
    for (size_t i = 0; json_is_string(value) && i < ACTIVATION_WORDS; i++)
        if (strcmp(activations[i].word, json_string_value(value)) == 0)
            return activations[i].activation;
    refuse_activation(config, key);
    return initial;
}

const char *config_activation_word(enum activation activation)
{
    size_t i = 0;

    while (activations[i].activation != activation)
        i++;
    return activations[i].word;
}

static void read_field(struct config *config, const struct config_key *key, void *field)
{
    int64_t *whole = field;
    double *number = field;
    enum activation *activation = field;
    enum score_scale *scale = field;
    unsigned *biases = field;

    switch (key->kind) {
    case CONFIG_WHOLE:
        *whole = key->needed ? config_size(config, key->key, key->most)
                             : config_whole(config, key->key, 1, key->most, *whole);
        break;
    case CONFIG_POSITIVE:
        *number = config_positive(config, key->key, *number);
        break;
    case CONFIG_ACTIVATION:
        *activation = config_activation(config, key->key, *activation);
        break;
    case CONFIG_SCALED:
        *scale = config_true(config, key->key, *scale == SCORE_SQRT) ? SCORE_SQRT : SCORE_NONE;
        break;
    case CONFIG_BIASES:
        *biases =
            config_true(config, key->key, *biases & key->bits) ? *biases | key->bits : *biases & ~key->bits;
        break;
    }
}

void config_fields(struct config *config, const struct config_key *keys, struct architecture *architecture)
{
    for (const struct config_key *key = keys; key->key; key++)
        read_field(config, key, (char *)architecture + key->offset);
}

void config_only_whole(struct config *config, const char *key, int64_t value)
{
    const json_t *found = value_of(config, key);
    char taken[24];

    snprintf(taken, sizeof(taken), "%" PRId64, value);
    if (found && !(json_is_integer(found) && json_integer_value(found) == value))
        config_refuse(config, key, taken);
}

void config_only_true(struct config *config, const char *key, bool value)
{
    const json_t *found = value_of(config, key);

    if (found && !(value ? json_is_true(found) : json_is_false(found)))
        config_refuse(config, key, value ? "true" : "false");
}

void config_only_word(struct config *config, const char *key, const char *value)
{
    const json_t *found = value_of(config, key);

    if (found && !(json_is_string(found) && strcmp(json_string_value(found), value) == 0))
        config_refuse(config, key, value);
}

bool config_enter(struct config *config, const char *key)
{
    const json_t *value = value_of(config, key);

    if (value && !json_is_object(value))
        config_refuse(config, key, "an object");
    if (!json_is_object(value))
        return false;
    config->object = value;
    config->within = key;
    return true;
}

void config_leave(struct config *config)
{
    config->object = config->root;
    config->within = NULL;
}
