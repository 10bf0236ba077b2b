#ifndef NORMSWEEP_TESTS_MODEL_LAY_OUT_H
#define NORMSWEEP_TESTS_MODEL_LAY_OUT_H

#include "model/core/arena.h"
#include "tests/test.h"

/* Lays something out in a new arena of just the right size: the call is made twice, at first to count. */
#define LAY_OUT(at, ...)                                                                                     \
    do {                                                                                                     \
        *(at) = (struct arena){0};                                                                           \
        __VA_ARGS__;                                                                                         \
        CHECK(arena_init(at, (at)->used) == 0);                                                              \
        __VA_ARGS__;                                                                                         \
    } while (0)

#endif
