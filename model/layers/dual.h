#ifndef NORMSWEEP_MODEL_LAYERS_DUAL_H
#define NORMSWEEP_MODEL_LAYERS_DUAL_H

#include "model/core/scalar.h"

/*
 * A plane and its tangent, the derivative of the plane along one direction of the weights or of the input.
 * The tangent functions of the layers carry it forward (the Jacobian times the direction) and, in gradients,
 * backward (the derivative of the gradient along it). Names: tx is the tangent of x, tdx that of the gradient
 * dx.
 */
struct dual {
    const scalar *at, *tangent;
};

#endif
