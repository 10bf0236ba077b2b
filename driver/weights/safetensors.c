#include "driver/weights/safetensors.h"

#include "driver/weights/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 16 << 20 }; /* bytes; a model of a hundred layers has about 200000 */

static const struct {
    const char *name;
    int bytes;
} types[STORED_TYPE_COUNT] = {
#define X(name, bytes) [STORED_##name] = {#name, bytes},
    STORED_TYPES(X)
#undef X
};

const char *stored_type_name(enum stored_type type)
{
    return types[type].name;
}

/* An unsigned little-endian number of `count` bytes. */
static uint64_t little_endian(const unsigned char *bytes, int count)
{
    uint64_t number = 0;

    for (int i = count - 1; i >= 0; i--)
        number = number << 8 | bytes[i];
    return number;
}

/* Reads a list of at most `most` whole numbers. Returns its length; -1: it is something else. */
static int64_t read_wholes(const json_t *list, int64_t *number, size_t most)
{
    size_t count = json_array_size(list);

    if (!json_is_array(list) || count > most)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0)
            return -1;
        number[i] = json_integer_value(item);
    }
    return (int64_t)count;
}

static int read_type(struct stored_tensor *tensor, const json_t *entry, struct error *error)
{
    const char *type = json_string_value(json_object_get(entry, STORED_DTYPE));
    char excerpt[EXCERPT_SIZE];

    if (!type)
        return error_set(error, ERROR_INPUT, "no dtype");
    for (enum stored_type i = 0; i < STORED_TYPE_COUNT; i++) {
        if (strcmp(types[i].name, type) == 0) {
            tensor->type = i;
            return 0;
        }
    }
    return error_set(error, ERROR_INPUT, "unknown dtype '%s'", place_excerpt(type, excerpt));
}

static int read_shape(struct stored_tensor *tensor, const json_t *entry, struct error *error)
{
    tensor->rank = read_wholes(json_object_get(entry, STORED_SHAPE), tensor->shape, STORED_RANK_MOST);
    if (tensor->rank < 0)
        return error_set(
            error, ERROR_INPUT, "shape is not a list of up to %d whole numbers", STORED_RANK_MOST);
    tensor->count = 1;
    for (int64_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(tensor->count, tensor->shape[i], &tensor->count))
            return error_set(error, ERROR_INPUT, "its shape has too many elements");
    return 0;
}

/* Reads which of the `room` bytes of data belong to the tensor; their number must match its elements. */
static int read_place(struct stored_tensor *tensor, const json_t *entry, uint64_t room, struct error *error)
{
    int64_t offset[2], bytes;

    if (read_wholes(json_object_get(entry, STORED_OFFSETS), offset, 2) != 2)
        return error_set(error, ERROR_INPUT, "data_offsets is not a list of two whole numbers");
    if (offset[0] > offset[1] || (uint64_t)offset[1] > room)
        return error_set(error, ERROR_INPUT,
            "data_offsets [%" PRId64 ", %" PRId64 "] are not within %" PRIu64
            " bytes of data; is the file whole?",
            offset[0], offset[1], room);
    if (__builtin_mul_overflow(tensor->count, types[tensor->type].bytes, &bytes) ||
        bytes != offset[1] - offset[0])
        return error_set(error, ERROR_INPUT, "%" PRId64 " bytes for %" PRId64 " elements of %s",
            offset[1] - offset[0], tensor->count, types[tensor->type].name);
    tensor->begin = (uint64_t)offset[0];
    tensor->end = (uint64_t)offset[1];
    return 0;
}

static int read_tensor(struct stored_tensor *tensor, const char *name, const json_t *entry,
    const unsigned char *data, uint64_t room, struct error *error)
{
    char excerpt[EXCERPT_SIZE];
    int status;

    *tensor = (struct stored_tensor){.name = name};
    if (!json_is_object(entry))
        status = error_set(error, ERROR_INPUT, "not an object with dtype, shape and data_offsets");
    else if ((status = read_type(tensor, entry, error)) == 0 &&
             (status = read_shape(tensor, entry, error)) == 0)
        status = read_place(tensor, entry, room, error);
    if (status < 0)
        return error_prefix(error, "%s", place_excerpt(name, excerpt));
    tensor->bytes = data + tensor->begin;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct stored_tensor *left = a, *right = b;

    return strcmp(left->name, right->name);
}

void safetensors_sort(struct safetensors *file)
{
    qsort(file->tensor, (size_t)file->count, sizeof(*file->tensor), compare_names);
}

static int compare_places(const void *a, const void *b)
{
    const struct stored_tensor *left = a, *right = b;

    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

/* Checks that every byte of the data belongs to exactly one tensor. */
static int check_places(struct safetensors *file, uint64_t room, struct error *error)
{
    char name[EXCERPT_SIZE], before[EXCERPT_SIZE];
    uint64_t end = 0;

    qsort(file->tensor, (size_t)file->count, sizeof(*file->tensor), compare_places);
    for (int64_t i = 0; i < file->count; i++) {
        const struct stored_tensor *tensor = &file->tensor[i];
        place_excerpt(tensor->name, name);
        if (tensor->begin > end)
            return error_set(error, ERROR_INPUT, "%s: bytes before it belong to no tensor", name);
        if (tensor->begin < end)
            return error_set(
                error, ERROR_INPUT, "%s: overlaps %s", name, place_excerpt(tensor[-1].name, before));
        end = tensor->end;
    }
    if (end != room)
        return error_set(error, ERROR_INPUT, "%" PRIu64 " bytes at its end belong to no tensor", room - end);
    safetensors_sort(file);
    return 0;
}

static int read_tensors(
    struct safetensors *file, const unsigned char *data, uint64_t room, struct error *error)
{
    const char *name;
    json_t *entry;

    file->tensor = calloc(json_object_size(file->header) + 1, sizeof(*file->tensor));
    if (!file->tensor)
        return error_set(error, ERROR_ENVIRONMENT, "no memory");
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, STORED_METADATA) == 0)
            continue;
        if (read_tensor(&file->tensor[file->count], name, entry, data, room, error) < 0)
            return -1;
        file->count++;
    }
    return check_places(file, room, error);
}

/* Does a file begin like those of torch.save: a zip archive, formerly a pickle? */
static bool is_of_pytorch(const unsigned char bytes[STORED_LENGTH_BYTES])
{
    return memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "\x80\2\x8a\n", 4) == 0;
}

static int parse(struct safetensors *file, const unsigned char *bytes, size_t size, struct error *error)
{
    uint64_t length = size < STORED_LENGTH_BYTES ? 0 : little_endian(bytes, STORED_LENGTH_BYTES);
    const unsigned char *header;
    struct place fault;

    if (size < STORED_LENGTH_BYTES)
        return error_set(error, ERROR_INPUT, "not a safetensors file: only %zu bytes", size);
    if (length > HEADER_MOST && is_of_pytorch(bytes))
        return error_set(error, ERROR_INPUT, SAFETENSORS_OF_PYTORCH);
    if (length > HEADER_MOST)
        return error_set(
            error, ERROR_INPUT, "not a safetensors file: it does not begin with the length of a header");
    if (length > size - STORED_LENGTH_BYTES)
        return error_set(error, ERROR_INPUT,
            "truncated: its header has %" PRIu64 " bytes, but only %zu follow", length,
            size - STORED_LENGTH_BYTES);
    header = bytes + STORED_LENGTH_BYTES;
    if (length == 0 || header[0] != '{')
        return error_set(error, ERROR_INPUT, "not a safetensors file: its header does not begin with '{'");
    file->header = json_read((const char *)header, (size_t)length, &fault, error);
    if (!file->header)
        return error_prefix(error, "header, line %d, column %d", fault.line, fault.column);
    return read_tensors(file, header + length, size - STORED_LENGTH_BYTES - length, error);
}

int safetensors_parse(
    struct safetensors *file, const char *path, const unsigned char *bytes, size_t size, struct error *error)
{
    *file = (struct safetensors){0};
    if (parse(file, bytes, size, error) == 0)
        return 0;
    safetensors_release(file);
    return error_prefix(error, "%s", path);
}

void safetensors_release(struct safetensors *file)
{
    json_decref(file->header);
    free(file->tensor);
    *file = (struct safetensors){0};
}

const struct stored_tensor *safetensors_find(const struct safetensors *file, const char *name)
{
    const struct stored_tensor key = {.name = name};

    return bsearch(&key, file->tensor, (size_t)file->count, sizeof(key), compare_names);
}
