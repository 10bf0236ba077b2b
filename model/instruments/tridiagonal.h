#ifndef NORMSWEEP_MODEL_INSTRUMENTS_TRIDIAGONAL_H
#define NORMSWEEP_MODEL_INSTRUMENTS_TRIDIAGONAL_H

#include <stdint.h>

/*
 * The eigenvalues of a symmetric tridiagonal matrix and the squares of the first components of its
 * eigenvectors, which are the nodes and weights of a Gauss quadrature (Golub and Welsch 1969). diagonal
 * [count] becomes the eigenvalues, ascending; weight [count] receives the squares, which sum to 1. beside
 * [count], whose first count - 1 elements lie beside the diagonal, is overwritten. diagonal and weight become
 * NaN if the matrix has something that is not finite, or if an eigenvalue does not converge.
 */
void tridiagonal_solve(double *diagonal, double *beside, double *weight, int64_t count);

#endif
