#ifndef NORMSWEEP_MODEL_KERNELS_PRODUCT_H
#define NORMSWEEP_MODEL_KERNELS_PRODUCT_H

#include "model/kernels/kernels.h"
#include "model/kernels/team.h"

/*
 * A product (see struct product in kernels.h) by the whole team: the project's own kernel where it is the
 * faster one, the BLAS library's elsewhere.
 */
void product_run(const struct team *team, const struct product *product);

#endif
