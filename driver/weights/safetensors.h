#ifndef NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_H
#define NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"

/* The element types: X(NAME, bytes). Only the first four can be read. */
/* clang-format off */
#define STORED_TYPES(X) \
    X(F32, 4) X(F16, 2) X(BF16, 2) X(F64, 8) \
    X(BOOL, 1) X(U8, 1) X(I8, 1) X(F8_E4M3, 1) X(F8_E5M2, 1) \
    X(I16, 2) X(U16, 2) X(I32, 4) X(U32, 4) X(I64, 8) X(U64, 8)
/* clang-format on */

enum stored_type {
#define X(name, bytes) STORED_##name,
    STORED_TYPES(X)
#undef X
        STORED_TYPE_COUNT,
    STORED_READ_COUNT = STORED_F64 + 1,
};

enum { STORED_RANK_MOST = 8, STORED_LENGTH_BYTES = 8 /* before the header */ };

/* Keys of the header, and of a tensor in it. */
#define STORED_METADATA "__metadata__"
#define STORED_DTYPE "dtype"
#define STORED_SHAPE "shape"
#define STORED_OFFSETS "data_offsets"

/* One tensor of a file. */
struct stored_tensor {
    const char *name; /* borrowed from the header */
    enum stored_type type;
    int64_t rank, shape[STORED_RANK_MOST]; /* row-major */
    int64_t count; /* of elements */
    uint64_t begin, end; /* offsets in the data */
    const unsigned char *bytes; /* borrowed from the file */
};

/*
 * A safetensors file: eight bytes with the length of the header, the header in JSON, and the elements of the
 * tensors, little-endian, one tensor after the other. Nothing in the file is trusted: parsing checks that
 * tensors neither overlap nor leave gaps, that each has the bytes that its shape needs, and that together
 * they fill the file.
 */
struct safetensors {
    struct json_t *header; /* owned, from jansson */
    int64_t count;
    struct stored_tensor *tensor; /* [count] sorted by name; owned */
};

/* In messages, of a file in the older form. */
#define SAFETENSORS_OF_PYTORCH                                                                               \
    "saved by PyTorch, not as safetensors; load it with transformers and save_pretrained() it again"

/*
 * Parses `size` bytes, which the caller owns and must keep in place. `path`: their name in messages. -1 with
 * a message in error, nothing to release, for any bytes that are not a valid file.
 */
int safetensors_parse(
    struct safetensors *file, const char *path, const unsigned char *bytes, size_t size, struct error *error);
void safetensors_release(struct safetensors *file);

/* Sorts the tensors by name, as finding one needs them. */
void safetensors_sort(struct safetensors *file);

/* The tensor of this name; NULL: none. */
const struct stored_tensor *safetensors_find(const struct safetensors *file, const char *name);

const char *stored_type_name(enum stored_type type);

#endif
