#ifndef NORMSWEEP_TESTS_MODEL_KERNELS_EACH_LEVEL_H
#define NORMSWEEP_TESTS_MODEL_KERNELS_EACH_LEVEL_H

#include "model/kernels/kernels.h"
#include "tests/test.h"

/* Calls `check` with the kernels of every vector level; a level that this processor lacks gives the best that
 * it has. In float the levels of bfloat16 have the kernels of the level below. */
static inline void each_level(void (*check)(const struct kernels *))
{
    const struct kernels *checked = NULL;
    const char *level;
    bool runs;

    for (int i = 0; (level = kernels_level(i, &runs)); i++) {
        setenv("NORMSWEEP_VECTOR", level, 1);
        if (kernels_best(PRECISION_FLOAT) != checked)
            check(checked = kernels_best(PRECISION_FLOAT));
    }
    unsetenv("NORMSWEEP_VECTOR");
}

/* TEST(id) with the kernels of every vector level. */
#define EACH_LEVEL(id)                                                                                       \
    static void check_##id(const struct kernels *kernels);                                                   \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        each_level(check_##id);                                                                              \
    }                                                                                                        \
    static void check_##id(const struct kernels *kernels)

#endif
