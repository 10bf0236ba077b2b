#include "driver/weights/home_config.h"

#include "driver/weights/json.h"
#include "driver/weights/written_file.h"

#include <stdlib.h>
#include <string.h>

/* 1e-05 and not 1.0000000000000001e-05 */
#define FORM (JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15))

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

/* Training goes on without dropout, as the run had none; for a GPT-2 the library would have some. */
static const char *const dropouts[HOME_COUNT][3] = {
    [HOME_GPT2] = {"attn_pdrop", "embd_pdrop", "resid_pdrop"},
    [HOME_LLAMA] = {"attention_dropout"},
};

static void put_field(struct object *object, const struct config_key *key, const void *field)
{
    const int64_t *whole = field;
    const double *number = field;
    const enum activation *activation = field;
    const enum score_scale *scale = field;
    const unsigned *biases = field;

    switch (key->kind) {
    case CONFIG_WHOLE:
        put(object, key->key, json_integer(*whole));
        break;
    case CONFIG_POSITIVE:
        put(object, key->key, json_real(*number));
        break;
    case CONFIG_ACTIVATION:
        put(object, key->key, json_string(config_activation_word(*activation)));
        break;
    case CONFIG_SCALED:
        put(object, key->key, json_boolean(*scale == SCORE_SQRT));
        break;
    case CONFIG_BIASES:
        put(object, key->key, json_boolean(*biases & key->bits));
        break;
    }
}

/* A token that both begins and ends texts, as in GPT-2; null if the corpus has none. */
static json_t *token(int32_t id)
{
    return id < 0 ? json_null() : json_integer(id);
}

static void put_all(struct object *object, const struct saved *saved, enum home home)
{
    const struct home_row *row = &home_table[home];
    const struct architecture its = home_architecture(home, &saved->architecture);

    for (const struct config_key *key = row->family->key; key->key; key++)
        put_field(object, key, (const char *)&its + key->offset);
    for (size_t i = 0; i < sizeof(*dropouts) / sizeof(**dropouts) && dropouts[home][i]; i++)
        put(object, dropouts[home][i], json_real(0));
    put(object, "architectures", json_pack("[s]", row->class));
    put(object, CONFIG_MODEL_TYPE, json_string(row->family->model_type));
    put(object, CONFIG_TIED, json_boolean(its.tied));
    put(object, "torch_dtype", json_string(saved->is_double ? "float64" : "float32"));
    put(object, "bos_token_id", token(saved->end_of_line));
    put(object, "eos_token_id", token(saved->end_of_line));
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
