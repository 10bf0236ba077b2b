#ifndef NORMSWEEP_MODEL_INSTRUMENTS_LANCZOS_H
#define NORMSWEEP_MODEL_INSTRUMENTS_LANCZOS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/core/arena.h"
#include "model/core/scalar.h"

/*
 * The Lanczos process for a symmetric matrix A that is known by its products, with full re-orthogonalisation
 * in two passes, and the quadrature of its spectral density as the start vector sees it. The caller computes
 * the products:
 *     lanczos_begin; while lanczos_vector is not NULL: compute A times it into `product`, lanczos_step
 *     lanczos_end
 * The basis is kept in scalars, and the caller's passes are of scalars: in float, products, orthogonality and
 * with them Ritz values are right to about 1e-6 of the largest eigenvalue. Sums over vectors are double.
 */
struct lanczos {
    int64_t most_size, most_steps; /* room */
    int64_t size, steps, taken; /* of the process under way; steps <= size */
    bool ended; /* an invariant space is exhausted, or a product is not finite */
    scalar *basis; /* [most_steps][most_size] orthonormal */
    double *product; /* [most_size] where the caller puts A times lanczos_vector; overwritten by a step */
    double *diagonal, *beside; /* [most_steps] of the tridiagonal matrix */
    double *part; /* [most_steps] of a re-orthogonalisation */
    double first; /* v.Av of the start vector, of norm 1 */
};

void lanczos_layout(struct lanczos *lanczos, int64_t size, int64_t steps, struct arena *arena);

/* Starts at a Rademacher vector (every element 1 or -1, over sqrt(size)), a function of seed and probe. */
void lanczos_begin(struct lanczos *lanczos, int64_t size, uint64_t seed, uint64_t probe);

/* The vector [size] whose product comes next; NULL: the process has ended. */
const scalar *lanczos_vector(const struct lanczos *lanczos);

/* Takes the product. */
void lanczos_step(struct lanczos *lanczos);

/*
 * ritz, weight [most_steps]: the eigenvalues of the tridiagonal matrix, ascending, and the squared first
 * components of its eigenvectors; NaN beyond the steps that were taken, and everywhere if a product was not
 * finite.
 */
void lanczos_end(struct lanczos *lanczos, double *ritz, double *weight);

/*
 * The eigenvalues of a symmetric tridiagonal matrix and the squares of the first components of its
 * eigenvectors, which are the nodes and weights of a Gauss quadrature (Golub and Welsch 1969). diagonal
 * [count] becomes the eigenvalues, ascending; weight [count] receives the squares, which sum to 1. beside
 * [count], whose first count - 1 elements lie beside the diagonal, is overwritten. diagonal and weight become
 * NaN if the matrix has something that is not finite, or if an eigenvalue does not converge.
 */
void tridiagonal_solve(double *diagonal, double *beside, double *weight, int64_t count);

#endif
