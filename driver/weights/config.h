#ifndef NORMSWEEP_DRIVER_WEIGHTS_CONFIG_H
#define NORMSWEEP_DRIVER_WEIGHTS_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"
#include "model/layers/activation.h"
#include "model/network/architecture.h"

#define CONFIG_FILE "config.json"

/* Keys of all families that are read and written. */
#define CONFIG_MODEL_TYPE "model_type"
#define CONFIG_TIED "tie_word_embeddings"

/*
 * A config.json. A key that is absent or null has the value `initial`. The first fault fills the error and
 * stays: readers go on with `initial`, and the caller looks at `failed` once, at the end.
 */
struct config {
    char *path; /* owned */
    json_t *root; /* owned; NULL: there is no such file */
    const json_t *object; /* whose keys are read */
    const char *within; /* the key of this object; NULL: the root */
    struct error *error; /* of all faults; borrowed */
    bool failed;
};

/* The largest width, number of heads and the like, and number of blocks, that are read: far above any model,
 * and products of them fit. */
enum { SIZE_MOST = 1 << 20, BLOCKS_MOST = 1 << 12 };

enum config_kind {
    CONFIG_WHOLE, /* from 1 on */
    CONFIG_POSITIVE,
    CONFIG_ACTIVATION,
    CONFIG_SCALED, /* true: SCORE_SQRT; false: SCORE_NONE */
    CONFIG_BIASES, /* true: all of these bits; false: none */
};

/* A key whose value is a field of struct architecture, for reading and for writing. */
struct config_key {
    const char *key;
    enum config_kind kind;
    bool needed; /* the key must be there; else the field may stay as it was */
    size_t offset; /* of the field */
    int64_t most; /* of CONFIG_WHOLE */
    unsigned bits; /* of CONFIG_BIASES, of enum biases */
};

/* clang-format off */
#define CONFIG_FIELD(its_key, its_field, is_needed, its_most) \
    {.key = (its_key), .needed = (is_needed), .most = (its_most), \
        .offset = offsetof(struct architecture, its_field), \
        .kind = _Generic(((struct architecture *)0)->its_field, \
            int64_t: CONFIG_WHOLE, double: CONFIG_POSITIVE, enum activation: CONFIG_ACTIVATION, \
            enum score_scale: CONFIG_SCALED)}

/* Rows of tables, which end with key NULL: a size that must be there, and one that need not be; another kind
 * of field; a switch of biases. */
#define CONFIG_NEEDED(key, field, most) CONFIG_FIELD(key, field, true, most)
#define CONFIG_SIZE(key, field, most) CONFIG_FIELD(key, field, false, most)
#define CONFIG_VALUE(key, field) CONFIG_FIELD(key, field, false, 0)
#define CONFIG_SWITCH(its_key, its_bits) \
    {.key = (its_key), .kind = CONFIG_BIASES, .bits = (its_bits), \
        .offset = offsetof(struct architecture, biases)}
/* clang-format on */

/*
 * Reads the file of this path, which it owns from now on, if there is one. -1 with "<path>: why" in error,
 * nothing to release.
 */
int config_open(struct config *config, char *path, struct error *error);
void config_close(struct config *config);

bool config_has(const struct config *config, const char *key); /* and it is not null */
bool config_is_null(const struct config *config, const char *key); /* it is there, and null */

int64_t config_whole(struct config *config, const char *key, int64_t least, int64_t most, int64_t initial);
int64_t config_size(struct config *config, const char *key, int64_t most); /* required, at least 1 */
double config_positive(struct config *config, const char *key, double initial);
double config_real(struct config *config, const char *key, double least, double most, double initial);
bool config_true(struct config *config, const char *key, bool initial);
const char *config_word(struct config *config, const char *key, const char *initial);
enum activation config_activation(struct config *config, const char *key, enum activation initial);

/* Reads the fields of a table. */
void config_fields(struct config *config, const struct config_key *keys, struct architecture *architecture);

/* A word that config_activation() takes for this activation. */
const char *config_activation_word(enum activation activation);

/* Refuses anything but this value. */
void config_only_whole(struct config *config, const char *key, int64_t value);
void config_only_true(struct config *config, const char *key, bool value);
void config_only_word(struct config *config, const char *key, const char *value);

/* "<path>: <key>: <value> is not <taken>" */
void config_refuse(struct config *config, const char *key, const char *taken);

/* Adds word `index` of `count` to a text that begins empty: "a, b or c". */
enum { CONFIG_WORDS_SIZE = 256 };
void config_add_word(char text[CONFIG_WORDS_SIZE], const char *word, size_t index, size_t count);

/* "<path>: " before a message from a printf format. */
void config_fail(struct config *config, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Goes on with the keys of the object at `key`, and back; false: there is none. */
bool config_enter(struct config *config, const char *key);
void config_leave(struct config *config);

#endif
