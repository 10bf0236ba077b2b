/*
 * Weights files from which runs start. When the sweep file is read, start_read gives each file the name that
 * runs have as their parameter, and with it their digests; it holds one block at a time. A worker reads the
 * file again for each run, into the run's own plane, and finds the name again: ranks of a host share no copy,
 * but the pages of the file that the kernel keeps, and no rank takes memory for it.
 */
#include "worker/checkpoint/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Loads all blocks, one after another, and finds the name of the weights. */
static int load_named(struct saved *saved, const struct weight_layout *layout, scalar *weights,
    const struct breath *breath, int64_t *name, struct error *error)
{
    const struct weight_source source = saved_source(saved);
    struct checksum checksum;
    struct digest digest;

    digest_init(&digest);
    network_digest(&saved->architecture, &digest);
    for (int64_t layer = -1; layer < architecture_blocks(&saved->architecture); layer++) {
        source.load(source.context, layout, layer, weights);
        for (int64_t i = 0; i < layout->tensor_count; i++) {
            const struct tensor *tensor = &layout->tensor[i];
            if (tensor->layer != layer || tensor->size == 0)
                continue;
            checksum_init(&checksum);
            checksum_add(&checksum, weights + tensor->offset, (size_t)tensor->size * sizeof(*weights));
            const uint64_t value = checksum_value(&checksum);
            digest_add(&digest, &value, sizeof(value));
        }
        breathe(breath);
    }
    *name = (int64_t)(digest.low >> 1);
    *name += *name == 0; /* 0 is none */
    return saved_check(saved, error);
}

int start_read(struct start_weights *start, const char *path, struct error *error)
{
    struct weight_layout layout;
    struct arena counted = {0}, arena;
    struct saved saved;
    int status = -1;

    if (saved_open(&saved, path, NULL, error) < 0)
        return -1;
    weight_layout_init(&layout, &saved.architecture, true, &counted);
    arena_take(&counted, (size_t)layout.size, sizeof(scalar));
    if (arena_init(&arena, counted.used) < 0) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    } else {
        weight_layout_init(&layout, &saved.architecture, true, &arena);
        scalar *weights = arena_take(&arena, (size_t)layout.size, sizeof(scalar));
        *start = (struct start_weights){
            .path = strdup(path), .architecture = saved.architecture, .has_output = saved.has_output};
        status = load_named(&saved, &layout, weights, NULL, &start->name, error);
        if (status == 0 && !start->path)
            status = error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
        if (status < 0) {
            free(start->path);
            start->path = NULL;
        }
        arena_release(&arena);
    }
    saved_close(&saved);
    return status;
}

int starts_load(const struct starts *starts, int64_t name, const struct weight_layout *layout,
    scalar *weights, const struct breath *breath, struct error *error)
{
    const char *path = NULL;
    struct saved saved;
    int64_t found;

    for (int64_t i = 0; i < starts->count; i++)
        if (starts->file[i].name == name)
            path = starts->file[i].path;
    if (!path)
        return error_set(error, ERROR_INPUT, "initial_weights: no file has the weights of this run");
    int status = saved_open(&saved, path, breath, error);
    if (status == 0) {
        status = load_named(&saved, layout, weights, breath, &found, error);
        if (status == 0 && found != name)
            status = error_set(error, ERROR_INPUT, "%s: has changed since the sweep began", path);
        saved_close(&saved);
    }
    return status < 0 ? error_prefix(error, "initial_weights") : 0;
}

void starts_release(struct starts *starts)
{
    for (int64_t i = 0; i < starts->count; i++)
        free(starts->file[i].path);
    free(starts->file);
    *starts = (struct starts){0};
}
