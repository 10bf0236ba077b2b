/* The table of one vector level. */
#include "model/kernels/level.h"

#define TEXT(level) TEXT_(level)
#define TEXT_(level) #level

extern const struct kernels KERNEL(kernels);
const struct kernels KERNEL(kernels) = {.level = TEXT(KERNELS_LEVEL),
#if defined(__AVX2__)
    .outdoes_blas = true,
#endif
#define X(name) .name = KERNEL(name),
    KERNEL_NAMES(X)
#undef X
};
