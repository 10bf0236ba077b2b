#ifndef NORMSWEEP_MODEL_KERNELS_PRODUCT_H
#define NORMSWEEP_MODEL_KERNELS_PRODUCT_H

#include "model/kernels/kernels.h"
#include "model/kernels/team.h"

/*
 * Computes a product (see struct product in kernels.h) by the whole team, with the project's own kernel where
 * that is faster than the BLAS library or has to round, else with the library. Not for symmetric products. A
 * team has scratch of PRODUCT_SCRATCH or more.
 */
void product_run(const struct team *team, const struct product *product);

/* The same by one thread alone, within its share of other work; scratch [PRODUCT_SCRATCH]. Of a symmetric
 * product the elements above the diagonal are copies of those below. */
void product_alone(const struct kernels *kernels, const struct product *product, scalar *scratch);

#endif
