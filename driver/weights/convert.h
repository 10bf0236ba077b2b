#ifndef NORMSWEEP_DRIVER_WEIGHTS_CONVERT_H
#define NORMSWEEP_DRIVER_WEIGHTS_CONVERT_H

#include "driver/weights/safetensors.h"
#include "model/core/scalar.h"

/* The elements of tensors whose type can be read, as scalars, each rounded once. */

/* out = the elements first .. first + count - 1. */
void convert(const struct stored_tensor *tensor, int64_t first, int64_t count, scalar *out);

/*
 * out [rows, columns] from a part of a tensor that is stored as [columns, stride]: the rows of out are its
 * columns first .. first + rows - 1.
 */
void convert_turned(const struct stored_tensor *tensor, int64_t stride, int64_t first, int64_t rows,
    int64_t columns, scalar *out);

#endif
