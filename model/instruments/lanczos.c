/*
 * The Lanczos process, and the eigenvalues of the tridiagonal matrix that it ends with. hessian.c calls it
 * once for each start vector: lanczos_begin draws the vector; while lanczos_vector gives one, the caller
 * multiplies it and lanczos_step takes the product; lanczos_end solves. A step makes the product orthogonal
 * to all vectors of the basis, twice: rounding would otherwise bring back eigenvalues that were found before.
 * A process ends early if the space is exhausted or a product is not finite. In that last case, and if an
 * eigenvalue does not converge, results are NaN; nothing else can fail.
 */
#include "model/instruments/inside.h"

#include <float.h>

#include "model/core/check.h"

/* Elements that stay in the first-level cache while all vectors of the basis pass by. */
enum { CHUNK = 1024 };

void lanczos_layout(struct lanczos *lanczos, int64_t size, int64_t steps, struct arena *arena)
{
    *lanczos = (struct lanczos){
        .most_size = size,
        .most_steps = steps,
        .basis = arena_plane(arena, steps, size),
        .product = arena_take(arena, (size_t)size, sizeof(double)),
        .diagonal = arena_take(arena, (size_t)steps, sizeof(double)),
        .beside = arena_take(arena, (size_t)steps, sizeof(double)),
        .part = arena_take(arena, (size_t)steps, sizeof(double)),
    };
}

static scalar *vector_of(const struct lanczos *l, int64_t i)
{
    return l->basis + i * l->size;
}

void lanczos_begin(struct lanczos *l, int64_t size, uint64_t seed, uint64_t probe)
{
    const double unit = 1 / sqrt((double)size);

    INVARIANT(size > 0 && size <= l->most_size, "%lld of %lld", (long long)size, (long long)l->most_size);
    l->size = size;
    l->steps = size < l->most_steps ? size : l->most_steps;
    l->taken = 0;
    l->ended = false;
    for (int64_t i = 0; i < size; i++) {
        uint64_t bits = random_bits(seed, RANDOM_PROBE, probe << 40 | (uint64_t)i);
        l->basis[i] = (scalar)(bits & 1 ? unit : -unit);
    }
}

const scalar *lanczos_vector(const struct lanczos *l)
{
    return l->ended || l->taken == l->steps ? NULL : vector_of(l, l->taken);
}

/* Subtracts from the product its parts along the first `count` vectors; returns the part along the last. */
static double orthogonalise(struct lanczos *l, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        l->part[j] = 0;
    for (int64_t begin = 0; begin < l->size; begin += CHUNK) {
        int64_t end = begin + CHUNK < l->size ? begin + CHUNK : l->size;
        for (int64_t j = 0; j < count; j++) {
            const scalar *v = vector_of(l, j);
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = begin; i < end; i++)
                sum += (double)v[i] * l->product[i];
            l->part[j] += sum;
        }
    }
    for (int64_t begin = 0; begin < l->size; begin += CHUNK) {
        int64_t end = begin + CHUNK < l->size ? begin + CHUNK : l->size;
        for (int64_t j = 0; j < count; j++) {
            const scalar *v = vector_of(l, j);
            double part = l->part[j];
#pragma omp simd
            for (int64_t i = begin; i < end; i++)
                l->product[i] -= part * (double)v[i];
        }
    }
    return l->part[count - 1];
}

/* In exact arithmetic the product has parts along the last two vectors only; rounding adds the others. */
void lanczos_step(struct lanczos *l)
{
    int64_t at = l->taken++;
    double size = sqrt(dot(l->product, l->product, l->size));

    l->diagonal[at] = orthogonalise(l, l->taken);
    l->diagonal[at] += orthogonalise(l, l->taken);
    if (at == 0)
        l->first = l->diagonal[0];
    double rest = sqrt(dot(l->product, l->product, l->size));
    l->beside[at] = rest;
    /* What is left is rounding: of the product, in scalars. */
    l->ended =
        !(rest > size * (sizeof(scalar) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON)) || !isfinite(rest);
    if (lanczos_vector(l)) {
        scalar *next = vector_of(l, l->taken);
        for (int64_t i = 0; i < l->size; i++)
            next[i] = (scalar)(l->product[i] / rest);
    }
}

/* ---- the tridiagonal matrix ---- */

/* No eigenvalue needs more than a few rounds. */
enum { ROUNDS_MOST = 60 };

/* Is element i beside the diagonal as good as 0? */
static bool is_split(const double *diagonal, const double *beside, int64_t i)
{
    return fabs(beside[i]) <= DBL_EPSILON * (fabs(diagonal[i]) + fabs(diagonal[i + 1]));
}

/* One implicit QL step on rows first .. last, shifted by the eigenvalue of the leading 2 x 2 block that is
 * closer to diagonal[first]. `vector` holds the first components of the eigenvectors. */
static void ql_step(double *diagonal, double *beside, double *vector, int64_t first, int64_t last)
{
    double g = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
    double sine = 1, cosine = 1, moved = 0;

    g = diagonal[last] - diagonal[first] + beside[first] / (g + copysign(hypot(g, 1), g));
    for (int64_t i = last - 1; i >= first; i--) {
        double f = sine * beside[i], b = cosine * beside[i], r = hypot(f, g);
        beside[i + 1] = r;
        if (r == 0) { /* splits here */
            diagonal[i + 1] -= moved;
            beside[last] = 0;
            return;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - moved;
        r = (diagonal[i] - g) * sine + 2 * cosine * b;
        moved = sine * r;
        diagonal[i + 1] = g + moved;
        g = cosine * r - b;
        double above = vector[i + 1];
        vector[i + 1] = sine * vector[i] + cosine * above;
        vector[i] = cosine * vector[i] - sine * above;
    }
    diagonal[first] -= moved;
    beside[first] = g;
    beside[last] = 0;
}

/* 0, or -1: something is not finite, or an eigenvalue did not settle. */
static int diagonalise(double *diagonal, double *beside, double *vector, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(diagonal[i]) || !isfinite(beside[i]))
            return -1;
    for (int64_t first = 0; first < count; first++)
        for (int round = 0;; round++) {
            int64_t last = first;
            while (last < count - 1 && !is_split(diagonal, beside, last))
                last++;
            if (last == first)
                break;
            if (round == ROUNDS_MOST)
                return -1;
            ql_step(diagonal, beside, vector, first, last);
        }
    return 0;
}

void tridiagonal_solve(double *diagonal, double *beside, double *weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        weight[i] = i == 0;
    beside[count - 1] = 0;
    if (diagonalise(diagonal, beside, weight, count) != 0) {
        for (int64_t i = 0; i < count; i++)
            diagonal[i] = weight[i] = NAN;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        weight[i] *= weight[i];
    for (int64_t i = 1; i < count; i++) /* sorts the pairs */
        for (int64_t j = i; j > 0 && diagonal[j] < diagonal[j - 1]; j--) {
            double value = diagonal[j], with = weight[j];
            diagonal[j] = diagonal[j - 1];
            weight[j] = weight[j - 1];
            diagonal[j - 1] = value;
            weight[j - 1] = with;
        }
}

void lanczos_end(struct lanczos *l, double *ritz, double *weight)
{
    for (int64_t i = 0; i < l->most_steps; i++) {
        bool taken = i < l->taken;
        ritz[i] = taken ? l->diagonal[i] : NAN;
        weight[i] = NAN;
    }
    if (l->taken > 0)
        tridiagonal_solve(ritz, l->beside, weight, l->taken);
}
