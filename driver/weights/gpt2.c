/*
 * Copies GPT-2's tensors into a plane of weights; the table of tensors has their names in the file.
 */
#include "driver/weights/gpt2.h"

#include "driver/text/place.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "transformer."

/* Limits under which no product of sizes overflows; larger than any trained model. */
enum { WIDTH_READ = 1 << 20, LAYERS_READ = 1 << 12 };

enum { NAME_SIZE = 64 };

/*
 * A tensor of the file is named by the first kind of the model's tensors that it holds: one, or the three of
 * c_attn side by side.
 */
static bool is_in_file(enum tensor_kind kind)
{
    const char *name = tensor_table[kind].gpt2, *before = kind > 0 ? tensor_table[kind - 1].gpt2 : NULL;

    return name && !(before && strcmp(name, before) == 0);
}

/* The number of the model's tensors in one of the file. */
static int64_t parts_of(enum tensor_kind kind)
{
    int64_t parts = 1;

    while (kind + parts < TENSOR_KIND_COUNT && tensor_table[kind + parts].gpt2 &&
           !is_in_file((enum tensor_kind)(kind + parts)))
        parts++;
    return parts;
}

/* GPT-2 stores the matrices of its layers as [in, out]. */
static bool is_turned(enum tensor_kind kind)
{
    return tensor_table[kind].part == PART_LAYER &&
           (tensor_table[kind].role == ROLE_MATRIX || tensor_table[kind].role == ROLE_WRITER);
}

/* Masks, which are not parameters. */
static const char *const ignored[] = {"attn.bias", "attn.masked_bias"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char *prefix_of(const struct safetensors *file)
{
    return safetensors_find(file, PREFIX "wte.weight") ? PREFIX : "";
}

/* The layer of a name "h.N.rest", and where `rest` begins; -1: the name is not in a layer. */
static int64_t layer_of(const char *name, const char **rest)
{
    char written[NAME_SIZE];

    *rest = name;
    if (strncmp(name, "h.", 2) != 0)
        return -1;
    long long layer = strtoll(name + 2, NULL, 10);
    int length = snprintf(written, sizeof(written), "h.%lld.", layer);
    if (layer < 0 || layer >= LAYERS_READ || strncmp(name, written, (size_t)length) != 0)
        return -1;
    *rest = name + length;
    return layer;
}

/* The name of a tensor in the file; layer -1: outside the layers. */
static const char *full_name(char name[NAME_SIZE], const char *prefix, int64_t layer, const char *rest)
{
    if (layer < 0)
        snprintf(name, NAME_SIZE, "%s%s", prefix, rest);
    else
        snprintf(name, NAME_SIZE, "%sh.%" PRId64 ".%s", prefix, layer, rest);
    return name;
}

/* A required tensor. NULL with a message in error: it is missing or of a type that is not read. */
static const struct stored_tensor *find_tensor(
    const struct safetensors *file, enum tensor_kind kind, int64_t layer, struct error *error)
{
    char name[NAME_SIZE];
    const char *prefix = kind == TENSOR_OUTPUT ? "" : prefix_of(file);
    const struct stored_tensor *tensor =
        safetensors_find(file, full_name(name, prefix, layer, tensor_table[kind].gpt2));

    if (!tensor) {
        error_set(error, ERROR_INPUT,
            "%s is missing; expected the tensors of GPT-2 as Hugging Face names them", name);
    } else if (tensor->type >= STORED_READ_COUNT) {
        error_set(error, ERROR_INPUT, "%s: dtype %s is not supported; use F32, F16, BF16 or F64", name,
            stored_type_name(tensor->type));
        tensor = NULL;
    }
    return tensor;
}

/* "[64, 192]" */
static const char *format_shape(char text[NAME_SIZE], int64_t rank, const int64_t *shape)
{
    size_t used = (size_t)snprintf(text, NAME_SIZE, "[");

    for (int64_t i = 0; i < rank && used < NAME_SIZE; i++)
        used += (size_t)snprintf(text + used, NAME_SIZE - used, "%s%" PRId64, i ? ", " : "", shape[i]);
    if (used < NAME_SIZE)
        snprintf(text + used, NAME_SIZE - used, "]");
    return text;
}

/* Fills in the shape that the architecture asks for; returns the rank. */
static int64_t shape_of(enum tensor_kind kind, const struct architecture *a, int64_t shape[2])
{
    int64_t rows = extent_length(a, tensor_table[kind].rows), parts = parts_of(kind);
    int64_t columns = extent_length(a, tensor_table[kind].columns);
    bool vector = tensor_table[kind].rows == EXTENT_ONE;

    shape[0] = vector ? columns * parts : is_turned(kind) ? columns : rows * parts;
    shape[1] = is_turned(kind) ? rows * parts : columns;
    return vector ? 1 : 2;
}

static int check_shape(const struct stored_tensor *tensor, enum tensor_kind kind,
    const struct architecture *architecture, struct error *error)
{
    char there[NAME_SIZE], wanted[NAME_SIZE];
    int64_t shape[2], rank = shape_of(kind, architecture, shape);

    if (tensor->rank == rank && memcmp(tensor->shape, shape, (size_t)rank * sizeof(*shape)) == 0)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: shape %s, not %s", tensor->name,
        format_shape(there, tensor->rank, tensor->shape), format_shape(wanted, rank, shape));
}

/* Reads sizes of the model from the shape of a matrix. */
static int read_matrix(const struct safetensors *file, enum tensor_kind kind, int64_t layer, int64_t *rows,
    int64_t *columns, struct error *error)
{
    const struct stored_tensor *tensor = find_tensor(file, kind, layer, error);
    int64_t most = kind == TENSOR_TOKEN ? INT32_MAX : WIDTH_READ;
    char shape[NAME_SIZE];

    if (!tensor)
        return -1;
    if (tensor->rank != 2 || tensor->count == 0 || tensor->shape[0] > most || tensor->shape[1] > WIDTH_READ)
        return error_set(error, ERROR_INPUT, "%s: shape %s is not that of a matrix of GPT-2", tensor->name,
            format_shape(shape, tensor->rank, tensor->shape));
    *rows = tensor->shape[0];
    *columns = tensor->shape[1];
    return 0;
}

static int read_sizes(const struct safetensors *file, struct architecture *a, struct error *error)
{
    int64_t width;

    if (read_matrix(file, TENSOR_TOKEN, -1, &a->vocabulary, &a->width, error) < 0 ||
        read_matrix(file, TENSOR_POSITION, -1, &a->context, &width, error) < 0)
        return -1;
    return read_matrix(file, TENSOR_W1, 0, &width, &a->feedforward, error);
}

/* Does GPT-2 have a tensor of this name in its layers, or outside of them? */
static bool is_known(const char *name, bool in_layer)
{
    for (enum tensor_kind kind = 0; kind < TENSOR_KIND_COUNT; kind++)
        if (kind != TENSOR_OUTPUT && tensor_table[kind].gpt2 && strcmp(tensor_table[kind].gpt2, name) == 0)
            return (tensor_table[kind].part == PART_LAYER) == in_layer;
    return false;
}

static bool is_ignored(const char *name)
{
    for (size_t i = 0; i < COUNT(ignored); i++)
        if (strcmp(ignored[i], name) == 0)
            return true;
    return false;
}

/* Counts the layers; refuses tensors that GPT-2 does not have. */
static int read_names(const struct safetensors *file, struct architecture *a, struct error *error)
{
    const char *prefix = prefix_of(file), *rest;
    char excerpt[EXCERPT_SIZE];

    a->layers = 1;
    for (int64_t i = 0; i < file->count; i++) {
        const char *name = file->tensor[i].name;
        size_t length = strncmp(name, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
        int64_t layer = layer_of(name + length, &rest);
        bool known =
            length == strlen(prefix) && (is_known(rest, layer >= 0) || (layer >= 0 && is_ignored(rest)));
        if (!known && strcmp(name, tensor_table[TENSOR_OUTPUT].gpt2) != 0)
            return error_set(
                error, ERROR_INPUT, "%s: GPT-2 has no such tensor", place_excerpt(name, excerpt));
        if (layer >= a->layers)
            a->layers = layer + 1;
    }
    return 0;
}

/* Sets a->tied: is the output layer's matrix the token embedding? */
static int read_tied(const struct safetensors *file, struct architecture *a, struct error *error)
{
    const struct stored_tensor *output, *token;

    a->tied = true;
    if (!safetensors_find(file, tensor_table[TENSOR_OUTPUT].gpt2))
        return 0;
    output = find_tensor(file, TENSOR_OUTPUT, -1, error);
    token = find_tensor(file, TENSOR_TOKEN, -1, error);
    if (!output || !token || check_shape(output, TENSOR_OUTPUT, a, error) < 0)
        return -1;
    for (int64_t i = 0; i < output->count && a->tied; i++)
        a->tied = stored_value(output, i) == stored_value(token, i);
    return 0;
}

/* Called for each tensor of the file. */
typedef int visit_function(void *context, const struct stored_tensor *tensor, enum tensor_kind kind,
    int64_t layer, struct error *error);

static int visit_part(const struct safetensors *file, enum tensor_part part, int64_t layer,
    visit_function *visit, void *context, struct error *error)
{
    for (enum tensor_kind kind = 0; kind < TENSOR_KIND_COUNT; kind++) {
        if (tensor_table[kind].part != part || !is_in_file(kind))
            continue;
        const struct stored_tensor *tensor = find_tensor(file, kind, layer, error);
        if (!tensor || visit(context, tensor, kind, layer, error) < 0)
            return -1;
    }
    return 0;
}

static int visit_tensors(const struct safetensors *file, const struct architecture *a, visit_function *visit,
    void *context, struct error *error)
{
    int status = visit_part(file, PART_EMBEDDING, -1, visit, context, error);

    if (status == 0)
        status = visit_part(file, PART_FINAL, -1, visit, context, error);
    for (int64_t layer = 0; status == 0 && layer < a->layers; layer++)
        status = visit_part(file, PART_LAYER, layer, visit, context, error);
    if (status == 0 && !a->tied)
        status = visit_part(file, PART_OUTPUT, -1, visit, context, error);
    return status;
}

static int check_one(void *context, const struct stored_tensor *tensor, enum tensor_kind kind, int64_t layer,
    struct error *error)
{
    (void)layer;
    return check_shape(tensor, kind, context, error);
}

int gpt2_architecture(const struct safetensors *file, const struct gpt2_config *config,
    struct architecture *architecture, struct error *error)
{
    struct architecture a = {
        .heads = config->heads ? config->heads : 1,
        .init_scale = 1,
        .residual_scale = 1,
        .norm_placement = NORM_PRE,
        .activation = config->activation,
        .attention_mask = MASK_CAUSAL,
        .biases = BIAS_ALL,
    };

    if (read_sizes(file, &a, error) < 0 || read_names(file, &a, error) < 0 ||
        read_tied(file, &a, error) < 0 || visit_tensors(file, &a, check_one, &a, error) < 0)
        return -1;
    if (a.width % a.heads)
        return error_set(
            error, ERROR_INPUT, "%" PRId64 " heads do not divide the width of %" PRId64, a.heads, a.width);
    *architecture = a;
    return 0;
}

struct weight_plane {
    const struct architecture *architecture;
    const struct weight_layout *layout;
    scalar *weights;
};

/* Copies the elements of a tensor, which must be finite, to their place in the plane. */
static int copy_one(void *context, const struct stored_tensor *tensor, enum tensor_kind kind, int64_t layer,
    struct error *error)
{
    const struct weight_plane *plane = context;
    scalar *out =
        plane->weights + plane->layout->tensor[tensor_index(plane->architecture, kind, layer)].offset;
    int64_t columns = is_turned(kind) ? tensor->shape[0] : tensor->count, rows = tensor->count / columns;

    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t from = i % columns * rows + i / columns;
        scalar value = (scalar)stored_value(tensor, from);
        if (!isfinite(value))
            return error_set(error, ERROR_INPUT, "%s: element %" PRId64 " is not finite as a " SCALAR_NAME,
                tensor->name, from);
        out[i] = value;
    }
    return 0;
}

int gpt2_weights(const struct safetensors *file, const struct architecture *architecture,
    const struct weight_layout *layout, scalar *weights, struct error *error)
{
    struct weight_plane plane = {architecture, layout, weights};
    const struct tensor *bias = &layout->tensor[tensor_index(architecture, TENSOR_OUTPUT_BIAS, 0)];

    memset(weights + bias->offset, 0, (size_t)bias->size * sizeof(*weights));
    return visit_tensors(file, architecture, copy_one, &plane, error);
}
