#ifndef NORMSWEEP_MODEL_KERNELS_LEVELS_H
#define NORMSWEEP_MODEL_KERNELS_LEVELS_H

#include "model/kernels/kernels.h"

/*
 * The kernels of the best level that this processor runs; the environment variable NORMSWEEP_VECTOR
 * (baseline, avx2, avx512, avx512_bf16, amx) asks for a lower level.
 */
const struct kernels *kernels_best(enum precision precision);

/* The name of that level. Without instructions of its own for a precision, a level computes as the one below.
 */
const char *kernels_level_in_use(void);

/* What NORMSWEEP_VECTOR asks for, if this processor or this build does not have it; else NULL. */
const char *kernels_level_missing(void);

/* The name of level `place`, 0 for the lowest, NULL past the last; *runs: whether this processor runs it. */
const char *kernels_level(int place, bool *runs);

/* Scalars of scratch that a head of up to these sizes needs, at any level; its tangents. */
int64_t attention_scratch(int64_t length, int64_t depth);
int64_t attention_tangent_scratch(int64_t length, int64_t depth);

#endif
