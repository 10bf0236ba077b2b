/* A stand-in for driver/weights/trained.c: GPT-2 alone, in one file. */
#include "driver/output/mapped_file.h"
#include "driver/weights/gpt2.h"
#include "driver/weights/gpt2_config.h"
#include "driver/weights/trained.h"

#include <stdlib.h>
#include <string.h>

struct trained_files {
    struct safetensors file;
    struct mapped_file mapped;
    struct weight_layout layout;
    struct arena arena;
    scalar *weights;
};

static int read_all(struct trained *trained, const char *path, int64_t heads, struct error *error)
{
    struct trained_files *f = trained->files;
    struct gpt2_config config;
    struct arena counted = {0};

    if (gpt2_config_read(&config, path, error) < 0)
        return -1;
    if (heads)
        config.heads = heads;
    trained->heads_known = config.heads > 0;
    if (gpt2_architecture(&f->file, &config, &trained->architecture, error) < 0)
        return error_prefix(error, "%s", path);
    weight_layout_init(&f->layout, &trained->architecture, &counted);
    f->weights = malloc((size_t)f->layout.size * sizeof(scalar));
    if (!f->weights || arena_init(&f->arena, counted.used) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    weight_layout_init(&f->layout, &trained->architecture, &f->arena);
    if (gpt2_weights(&f->file, &trained->architecture, &f->layout, f->weights, error) < 0)
        return error_prefix(error, "%s", path);
    return 0;
}

int trained_open(struct trained *trained, const char *path, int64_t heads, struct error *error)
{
    *trained = (struct trained){.family = "gpt2", .has_output = true, .special = {-1, -1}};
    trained->files = calloc(1, sizeof(*trained->files));
    int status = mapped_file_open(&trained->files->mapped, path, error);
    if (status == 0)
        status = safetensors_parse(
            &trained->files->file, path, trained->files->mapped.bytes, trained->files->mapped.size, error);
    if (status == 0)
        status = read_all(trained, path, heads, error);
    if (status < 0)
        free(trained->files);
    return status;
}

void trained_close(struct trained *trained)
{
    safetensors_release(&trained->files->file);
    mapped_file_close(&trained->files->mapped);
    arena_release(&trained->files->arena);
    free(trained->files->weights);
    free(trained->files);
}

static void load(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights)
{
    const struct trained_files *f = context;

    for (int64_t i = 0; i < layout->tensor_count; i++)
        if (layout->tensor[i].layer == layer)
            memcpy(weights + layout->tensor[i].offset, f->weights + f->layout.tensor[i].offset,
                (size_t)layout->tensor[i].size * sizeof(scalar));
}

struct weight_source trained_source(struct trained *trained)
{
    return (struct weight_source){load, trained->files};
}

const char *trained_name(const struct trained *trained, enum tensor_kind kind, int64_t layer)
{
    (void)trained, (void)layer;
    return tensor_table[kind].gpt2;
}
