/* The table of one vector level. */
#include "model/kernels/level.h"

#define TEXT(level) TEXT_(level)
#define TEXT_(level) #level

extern const struct kernels KERNEL(kernels);
const struct kernels KERNEL(kernels) = {
    .level = TEXT(KERNELS_LEVEL),
#if defined(__AVX2__)
    .outdoes_blas = true,
#endif
    .product = KERNEL(product),
    .spread = KERNEL(spread),
    .column_sums = KERNEL(column_sums),
    .layernorm = KERNEL(layernorm),
    .layernorm_gradient = KERNEL(layernorm_gradient),
    .relu = KERNEL(relu),
    .relu_gradient = KERNEL(relu_gradient),
    .gelu = KERNEL(gelu),
    .gelu_tanh = KERNEL(gelu_tanh),
    .gelu_gradient = KERNEL(gelu_gradient),
    .attention = KERNEL(attention),
    .attended = KERNEL(attended),
    .attention_gradient = KERNEL(attention_gradient),
    .cross_entropy = KERNEL(cross_entropy),
    .cross_entropy_gradient = KERNEL(cross_entropy_gradient),
    .argmax = KERNEL(argmax),
    .dot = KERNEL(dot),
    .sums = KERNEL(sums),
    .keep = KERNEL(keep),
    .difference = KERNEL(difference),
    .adam = KERNEL(adam),
    .adam_sums = KERNEL(adam_sums),
    .sgd = KERNEL(sgd),
    .sgd_sums = KERNEL(sgd_sums),
    .descend = KERNEL(descend),
    .add_squares = KERNEL(add_squares),
    .over_root = KERNEL(over_root),
};
