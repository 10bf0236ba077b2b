/*
 * The table of one vector level. A level of `precision: bfloat16` names those whose plain loops and whose
 * attention it takes, and may be known to users by another name, that of the instructions that it needs.
 */
#include "model/kernels/level.h"

#ifndef PLAIN_LEVEL
#define PLAIN_LEVEL KERNELS_LEVEL
#endif
#ifndef ATTENTION_LEVEL
#define ATTENTION_LEVEL KERNELS_LEVEL
#endif
#ifndef LEVEL_NAME
#define LEVEL_NAME KERNELS_LEVEL
#endif
#define TEXT(level) TEXT_(level)
#define TEXT_(level) #level

#define X(name) extern __typeof__(*((struct kernels *)NULL)->name) KERNEL_OF(name, PLAIN_LEVEL);
PLAIN_NAMES(X)
#undef X
#define X(name) extern __typeof__(*((struct kernels *)NULL)->name) KERNEL_OF(name, ATTENTION_LEVEL);
ATTENTION_NAMES(X)
#undef X

extern const struct kernels KERNEL(kernels);
const struct kernels KERNEL(kernels) = {.level = TEXT(LEVEL_NAME),
#ifdef KERNELS_BFLOAT16
    .precision = PRECISION_BFLOAT16,
    .own_product = true, /* BLAS does not round */
#elif defined(__AVX2__)
    .own_product = true,
#endif
#define X(name) .name = KERNEL(name),
    PRODUCT_NAMES(X)
#undef X
#define X(name) .name = KERNEL_OF(name, ATTENTION_LEVEL),
        ATTENTION_NAMES(X)
#undef X
#define X(name) .name = KERNEL_OF(name, PLAIN_LEVEL),
            PLAIN_NAMES(X)
#undef X
};
