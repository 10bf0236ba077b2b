#ifndef NORMSWEEP_WORKER_CHECKPOINT_FORM_H
#define NORMSWEEP_WORKER_CHECKPOINT_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "model/core/breath.h"
#include "worker/train/train.h"

/*
 * The form of a checkpoint as a netCDF file: weights, moments and what the instruments keep, one variable per
 * kind of tensor, those of the layers with a leading dimension `layer`, matrices [out, in]; the rows so far
 * as the metric table has them, over `step`; position, times, parameters and what numbers depend on as
 * attributes.
 */

/* Writes a file, not yet sealed; final weights: with `weights_alone`. What is large reaches the disk piece by
 * piece, with a breath between them. A netCDF status or an errno; a file may be left. */
int form_write(const char *path, const struct digest *digest, const struct snapshot *snapshot,
    bool weights_alone, const struct breath *breath);

/*
 * Reads a file whose seal is good. A netCDF status or an errno: the snapshot then holds anything. Of another
 * run, format, BLAS kernel, vector level or scalar: 0 and `unfit` says so, a text that is empty otherwise;
 * the snapshot is then untouched.
 */
int form_read(const char *path, const struct digest *digest, struct snapshot *snapshot,
    const struct breath *breath, char *unfit, size_t size);

#endif
