/* The table of one vector level. */
#include "model/kernels_level.h"

#define TEXT(level) TEXT_(level)
#define TEXT_(level) #level

extern const struct kernels KERNEL(kernels);
const struct kernels KERNEL(kernels) = {
    .level = TEXT(KERNELS_LEVEL),
    .spread = KERNEL(spread),
    .column_sums = KERNEL(column_sums),
    .layernorm = KERNEL(layernorm),
    .layernorm_gradient = KERNEL(layernorm_gradient),
    .relu = KERNEL(relu),
    .relu_gradient = KERNEL(relu_gradient),
    .gelu = KERNEL(gelu),
    .gelu_gradient = KERNEL(gelu_gradient),
    .softmax = KERNEL(softmax),
    .softmax_gradient = KERNEL(softmax_gradient),
    .cross_entropy = KERNEL(cross_entropy),
    .cross_entropy_gradient = KERNEL(cross_entropy_gradient),
    .dot = KERNEL(dot),
    .difference = KERNEL(difference),
    .adam = KERNEL(adam),
    .adam_direction = KERNEL(adam_direction),
};
