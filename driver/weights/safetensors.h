#ifndef NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_H
#define NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "model/core/error.h"

/* The types of elements: X(NAME, bytes). The first four are read, the others are only known. */
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

enum { STORED_RANK_MOST = 8 };

/* One tensor of a file. */
struct stored_tensor {
    const char *name; /* the header's */
    enum stored_type type;
    int64_t rank, shape[STORED_RANK_MOST]; /* row-major */
    int64_t count; /* of elements */
    uint64_t begin, end; /* bytes of the data */
    const unsigned char *bytes; /* the file's */
};

/*
 * A safetensors file: eight bytes with the length of a header, the header in JSON, and the tensors' elements,
 * little-endian, one tensor behind the other. The file is believed in nothing: tensors neither overlap nor
 * leave gaps, each has the bytes that its shape says, and together they are the whole file.
 */
struct safetensors {
    struct json_t *header; /* jansson's */
    int64_t count;
    struct stored_tensor *tensor; /* [count] by name; owned */
};

/*
 * Reads what `size` bytes say, which stay the caller's and stay in place; `path` is what messages call them.
 * -1: nothing held, and one line, whatever the bytes are.
 */
int safetensors_parse(
    struct safetensors *file, const char *path, const unsigned char *bytes, size_t size, struct error *error);
void safetensors_release(struct safetensors *file);

/* NULL: no tensor has this name. */
const struct stored_tensor *safetensors_find(const struct safetensors *file, const char *name);

const char *stored_type_name(enum stored_type type);

/* Element `index` of a tensor of one of the types that are read. */
double stored_value(const struct stored_tensor *tensor, int64_t index);

#endif
