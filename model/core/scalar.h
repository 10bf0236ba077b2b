#ifndef NORMSWEEP_MODEL_CORE_SCALAR_H
#define NORMSWEEP_MODEL_CORE_SCALAR_H

#include <cblas.h>

/*
 * The type of weights, gradients and activations. The program trains in float; the same source is built a
 * second time with SCALAR_DOUBLE for gradient checks and parity tests. Sums, norms and cosines are double in
 * both builds.
 */
#ifdef SCALAR_DOUBLE
typedef double scalar;
#define SCALAR_NAME "double"
#define SCALAR_TYPE "float64" /* as NumPy calls it */
#define scalar_gemm cblas_dgemm
#else
typedef float scalar;
#define SCALAR_NAME "float"
#define SCALAR_TYPE "float32"
#define scalar_gemm cblas_sgemm
#endif

#endif
