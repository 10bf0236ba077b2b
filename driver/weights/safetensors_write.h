#ifndef NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_WRITE_H
#define NORMSWEEP_DRIVER_WEIGHTS_SAFETENSORS_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/error.h"

enum { FORM_NAME_SIZE = 128, FORM_RANK_MOST = 2 };

/* A tensor to be written. */
struct stored_form {
    char name[FORM_NAME_SIZE];
    int64_t rank, shape[FORM_RANK_MOST];
};

/* What a file is to hold. */
struct stored_content {
    bool is_double; /* F64, else F32 */
    int64_t count;
    const struct stored_form *tensor; /* [count] in the order of the file */
    /* Gives the elements of a tensor, row by row, which are rounded once. -1 with a message in error. */
    int (*fill)(void *context, int64_t index, double *values, struct error *error);
    void *context;
};

/* The number of elements of a tensor, or of all. */
int64_t stored_form_size(const struct stored_form *form);
int64_t stored_content_size(const struct stored_content *content);

/*
 * Writes a safetensors file, with the metadata {"format": "pt"} that readers of PyTorch's tensors ask for,
 * and syncs it. The path must not exist. Takes memory for the largest tensor. -1 with "<path>: why" in error,
 * or that of `fill`: the file is removed.
 */
int safetensors_write(const char *path, const struct stored_content *content, struct error *error);

#endif
