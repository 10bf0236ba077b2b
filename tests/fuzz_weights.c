#include "driver/text/utf8.h"
#include "driver/weights/gpt2.h"
#include "driver/weights/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Tensors that were accepted are read to their last element. */
static void read_all(const struct safetensors *file)
{
    for (int64_t i = 0; i < file->count; i++) {
        const struct stored_tensor *tensor = &file->tensor[i];
        if (safetensors_find(file, tensor->name) != tensor)
            abort();
        if (tensor->type >= STORED_READ_COUNT)
            continue;
        for (int64_t k = 0; k < tensor->count; k++)
            (void)stored_value(tensor, k);
    }
}

/* A model that was accepted fits its plane. */
static int copy_all(const struct safetensors *file, struct error *error)
{
    const struct gpt2_config config = {.heads = 1};
    struct architecture architecture;
    struct weight_layout layout;
    struct arena arena = {0};

    if (gpt2_architecture(file, &config, &architecture, error) < 0)
        return -1;
    weight_layout_init(&layout, &architecture, &arena);
    scalar *weights = malloc((size_t)layout.size * sizeof(*weights));
    if (arena_init(&arena, arena.used) < 0 || !weights)
        abort();
    weight_layout_init(&layout, &architecture, &arena);
    int status = gpt2_weights(file, &architecture, &layout, weights, error);
    arena_release(&arena);
    free(weights);
    return status;
}

/* The bytes as a config.json. */
static void read_json(const char *text, size_t size)
{
    struct error error = {.text = ""};
    struct place fault = {-1, -1};

    if (utf8_begin(&text, &size, &error) < 0)
        return;
    json_t *root = json_read(text, size, &fault, &error);
    if (!root && (!error.text[0] || fault.line < 0))
        abort();
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    struct error error = {.text = ""};
    struct safetensors file;

    read_json((const char *)bytes, size);
    int status = safetensors_parse(&file, "model.safetensors", bytes, size, &error);
    if (status == 0) {
        read_all(&file);
        status = copy_all(&file, &error);
        safetensors_release(&file);
    }
    if (status < 0 && (!error.text[0] || strchr(error.text, '\n')))
        abort();
    return 0;
}
