#ifndef NORMSWEEP_TESTS_MODEL_KERNELS_EACH_LEVEL_H
#define NORMSWEEP_TESTS_MODEL_KERNELS_EACH_LEVEL_H

#include <stdlib.h>

#include "model/kernels/kernels.h"
#include "model/kernels/levels.h"

/* Calls `check` with the kernels of every vector level; a level that this processor lacks gives the best that
 * it has. */
static inline void each_level(void (*check)(const struct kernels *))
{
    static const char *const levels[] = {"baseline", "avx2", "avx512"};

    for (int i = 0; i < 3; i++) {
        setenv("NORMSWEEP_VECTOR", levels[i], 1);
        check(kernels_best(PRECISION_FLOAT));
    }
    unsetenv("NORMSWEEP_VECTOR");
}

#endif
