#ifndef NORMSWEEP_MODEL_KERNELS_LEVELS_H
#define NORMSWEEP_MODEL_KERNELS_LEVELS_H

#include "model/kernels/kernels.h"

/*
 * The best level that this processor runs; the environment variable NORMSWEEP_VECTOR (baseline, avx2, avx512)
 * asks for a lower one.
 */
const struct kernels *kernels_best(void);

/* The name of a level, from the lowest at 0 on, and whether this processor runs it; NULL past the last. */
const char *kernels_level(int place, bool *runs);

/* Scalars of scratch for a head of up to these sizes, at every level. */
int64_t attention_scratch(int64_t length, int64_t depth);

#endif
