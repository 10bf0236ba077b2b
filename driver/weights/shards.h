#ifndef NORMSWEEP_DRIVER_WEIGHTS_SHARDS_H
#define NORMSWEEP_DRIVER_WEIGHTS_SHARDS_H

#include "driver/weights/safetensors.h"

#define SHARDS_ONE_FILE "model.safetensors" /* a model that is not split */

/* The tensors of one model, from one file or from several with an index. The files stay mapped. */
struct shards {
    char *path; /* of the one file, or of the index: the name in messages */
    int64_t count;
    struct shard *shard; /* [count] */
    struct safetensors all; /* the tensors of all files, sorted by name */
};

/*
 * Opens a .safetensors file; an index, whose name ends with .json: {"weight_map": {tensor: file}, ...} of
 * files in the folder of the index; or a folder with model.safetensors or model.safetensors.index.json.
 * Index and files must promise and hold the same tensors. -1 with "<path>: why" in error, nothing to release.
 */
int shards_open(struct shards *shards, const char *path, struct error *error);
void shards_close(struct shards *shards);

/* Are all files as they were when they were opened? -1 with "<path>: changed while it was read" in error. */
int shards_check(const struct shards *shards, struct error *error);

/* The path of the file that holds a tensor of `all`. */
const char *shards_path(const struct shards *shards, const struct stored_tensor *tensor);

/* The path of a file beside the weights, which the caller frees; NULL without memory. */
char *shards_beside(const struct shards *shards, const char *name);

#endif
