#ifndef NORMSWEEP_DRIVER_WEIGHTS_TRAINED_H
#define NORMSWEEP_DRIVER_WEIGHTS_TRAINED_H

#include "model/core/error.h"
#include "model/network/weights.h"

/* What the text that a network was trained on needs beside words. -1: not known. */
struct special_tokens {
    int32_t start; /* what a decoder begins with */
    int32_t end; /* what ends a source and its target */
    int32_t padding; /* has a place of its own, and is not text */
};

/* A trained network, of others or of a run, on disk: its architecture, and where its weights lie. */
struct trained {
    const char *family; /* the model_type of config.json; "normsweep" for a run's */
    struct architecture architecture; /* context INT32_MAX: nothing bounds the length of a text */
    bool has_output; /* it has an output layer, and thus a loss */
    bool heads_known; /* false: heads is 1, and only what does not depend on it may be measured */
    struct special_tokens special;
    struct trained_files *files; /* owned; of a run NULL */
    struct saved *saved; /* owned; of others NULL */
};

/*
 * Opens `path`: a .safetensors file, a .safetensors.index.json of several, or a folder with one of these,
 * with a config.json beside it; or a .nc file with a run's saved weights. heads: for a GPT-2 without
 * config.json, or 0; otherwise 0. Every tensor is checked for its name, type and shape, none is read yet. -1
 * with "<path>: why" in error, nothing to release.
 */
int trained_open(struct trained *trained, const char *path, int64_t heads, struct error *error);
void trained_close(struct trained *trained);

/* Converts the weights from the files, tensor by tensor. Values may be anything, NaN included. After the last
 * load, trained_check says whether all could be read: -1 with "<path>: why". */
struct weight_source trained_source(struct trained *trained);
int trained_check(const struct trained *trained, struct error *error);

/* The path of the file, or of the index of several: the name in messages. */
const char *trained_path(const struct trained *trained);

/* The path of the file that holds this tensor of the model. */
const char *trained_file(const struct trained *trained, enum tensor_kind kind, int64_t layer);

/* The name in the files of the tensor that holds this one of the model. */
const char *trained_name(const struct trained *trained, enum tensor_kind kind, int64_t layer);

#endif
