/*
 * Pretrained weights. The bytes are up to four files, between separators: a safetensors file, its
 * config.json, an index, and a second safetensors file for the index.
 */
#include "driver/text/utf8.h"
#include "driver/weights/convert.h"
#include "driver/weights/json.h"
#include "driver/weights/trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

static const unsigned char separator[] = {0, 0xff, 'n', 'e', 'x', 't', 0xff, 0};
static const char *const names[] = {
    "model-1.safetensors", "config.json", "model.safetensors.index.json", "model-2.safetensors"};
enum { FILES = sizeof(names) / sizeof(*names), INDEX = 2 };

static char folder[] = "/tmp/fuzz-weights-XXXXXX";
static char path[FILES][64];

static void remove_folder(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(path[i]);
    rmdir(folder);
}

/* Makes a folder for the files. */
static void make_folder(void)
{
    if (path[0][0])
        return;
    if (!mkdtemp(folder))
        abort();
    for (int i = 0; i < FILES; i++)
        snprintf(path[i], sizeof(path[i]), "%s/%s", folder, names[i]);
    atexit(remove_folder);
}

static void write_file(const char *to, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(to, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* Writes the files that the bytes have. Returns the path of the one to open. */
static const char *write_files(const unsigned char *bytes, size_t size)
{
    int count = 0;

    for (; count < FILES; count++) {
        const unsigned char *end = memmem(bytes, size, separator, sizeof(separator));
        write_file(path[count], bytes, end ? (size_t)(end - bytes) : size);
        if (!end)
            break;
        size -= (size_t)(end - bytes) + sizeof(separator);
        bytes = end + sizeof(separator);
    }
    for (int i = count + 1; i < FILES; i++)
        unlink(path[i]);
    return path[count >= INDEX ? INDEX : 0];
}

/* Tensors that were accepted are read to their last element. */
static void read_all(const unsigned char *bytes, size_t size)
{
    struct error error = {.text = ""};
    struct safetensors file;
    scalar value;

    if (safetensors_parse(&file, "model.safetensors", bytes, size, &error) < 0)
        return;
    for (int64_t i = 0; i < file.count; i++) {
        const struct stored_tensor *tensor = &file.tensor[i];
        if (safetensors_find(&file, tensor->name) != tensor)
            abort();
        for (int64_t k = 0; tensor->type < STORED_READ_COUNT && k < tensor->count; k++)
            convert(tensor, k, 1, &value);
    }
    safetensors_release(&file);
}

/* A model that was accepted fits its plane, block by block. */
static void load_all(struct trained *trained)
{
    const struct architecture *architecture = &trained->architecture;
    struct weight_source source = trained_source(trained);
    struct weight_layout layout;
    struct arena arena = {0};

    weight_layout_init_shared(&layout, architecture, &arena);
    scalar *weights = malloc((size_t)layout.size * sizeof(*weights));
    if (arena_init(&arena, arena.used) < 0 || !weights)
        abort();
    weight_layout_init_shared(&layout, architecture, &arena);
    for (int64_t layer = -1; layer < architecture_blocks(architecture); layer++)
        source.load(source.context, &layout, layer, weights);
    for (int64_t i = 0; i < layout.tensor_count; i++)
        if (layout.tensor[i].size > 0 &&
            !trained_name(trained, layout.tensor[i].kind, layout.tensor[i].layer))
            abort();
    arena_release(&arena);
    free(weights);
}

/* The bytes as a config.json. */
static void read_json(const char *text, size_t size)
{
    struct error error = {.text = ""};
    struct place fault = {-1, -1, NULL};

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
    struct trained trained;

    make_folder();
    read_json((const char *)bytes, size);
    read_all(bytes, size);
    if (trained_open(&trained, write_files(bytes, size), 0, &error) == 0) {
        load_all(&trained);
        trained_close(&trained);
    } else if (!error.text[0] || strchr(error.text, '\n')) {
        abort();
    }
    return 0;
}
